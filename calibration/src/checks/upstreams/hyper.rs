//! hyper, in this process.

use super::{Process, Running, Upstream};
use crate::bench::Error;
use hyper::body::{Body as _, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::future::poll_fn;
use std::io;
use std::net::TcpListener;
use std::pin::Pin;
use tokio::task::JoinSet;

pub(super) const UPSTREAM: Upstream = Upstream {
    name: "hyper",
    start: |_| {
        let failed = || Error::when("starting hyper");
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(failed())?;
        listener.set_nonblocking(true).map_err(failed())?;
        let address = listener.local_addr().map_err(failed())?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed())?;
        // It has nothing to tell when it ends, which is when this process does.
        std::thread::spawn(move || runtime.block_on(serve(listener)).unwrap_or_default());
        Ok(Running {
            address,
            _process: Process::Thread,
        })
    },
};

async fn serve(listener: TcpListener) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await?;
        while connections.try_join_next().is_some() {}
        connections.spawn(
            hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service_fn(answer)),
        );
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<String>, hyper::Error> {
    let (head, mut body) = request.into_parts();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        frame?;
    }
    let mut response = Response::new("fine".to_owned());
    let seen = format!("{} {}", head.method, head.uri);
    if let Ok(seen) = seen.parse() {
        response.headers_mut().insert("x-seen", seen);
    }
    Ok(response)
}
