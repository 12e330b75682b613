//! hyper in this process: a peer of our servers, and the tolerant server behind nginx and HAProxy.

use hyper::body::{Body as _, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::mpsc;
use tokio::net::TcpListener;
use tokio::task::LocalSet;

/// Starts a server that runs as long as this process; it answers as our mock does.
pub fn start() -> SocketAddr {
    let (ready, address) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        LocalSet::new().block_on(&runtime, async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            ready.send(listener.local_addr().unwrap()).unwrap();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let connection = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service_fn(answer));
                tokio::task::spawn_local(connection);
            }
        });
    });
    address.recv().unwrap()
}

async fn answer(request: Request<Incoming>) -> Result<Response<String>, hyper::Error> {
    let (head, mut body) = request.into_parts();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        frame?;
    }
    let status = match head.uri.path() {
        "/canary" => 299,
        "/smuggled" => 404,
        _ => 200,
    };
    let mut response = Response::new("fine".to_owned());
    *response.status_mut() = hyper::StatusCode::from_u16(status).expect("a status");
    Ok(response)
}
