//! `GET /metrics`: the totals in Prometheus' text format. A few connections at a time, each with a deadline.

use super::read;
use crate::exit::Failure;
use plimsoll_http::{Framing, Limits, Listener, RequestHead, TcpServer, accept, encode};
use plimsoll_report::live::{Totals, prometheus};
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Mutex;
use std::time::Duration;
use tokio::net::TcpStream;

/// How long a client may take over a request, over reading its answer, or be idle.
const PATIENCE: Duration = Duration::from_secs(15);
/// Clients at a time; further ones wait to be accepted.
const CLIENTS: usize = 8;

/// The bound endpoint.
#[derive(Debug)]
pub(super) struct Server {
    listener: Listener,
    address: SocketAddr,
}

/// What is answered.
struct Page {
    status: u16,
    content_type: &'static str,
    body: String,
}

impl Server {
    /// Binds it.
    ///
    /// # Errors
    /// [`Failure::Environment`].
    pub(super) fn bind(address: SocketAddr) -> Result<Self, Failure> {
        let failed = |e| Failure::Environment(format!("--metrics {address}: {e}"));
        let listener = Listener::bind(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address })
    }

    /// Where it is.
    pub(super) fn url(&self) -> String {
        format!("http://{}/metrics", self.address)
    }

    /// Serves until dropped. A listener that fails serves nobody any more; the run goes on.
    pub(super) async fn serve(&self, totals: &Mutex<Totals>) -> Infallible {
        let Ok(listener) = self.listener.for_shard() else {
            return std::future::pending().await;
        };
        let slots = tokio::sync::Semaphore::new(CLIENTS);
        let mut clients = Clients::default();
        loop {
            tokio::select! {
                accepted = async {
                    let slot = slots.acquire().await;
                    accept(&listener).await.map(|stream| (stream, slot))
                } => match accepted {
                    Ok((stream, slot)) => clients.push(Box::pin(async move {
                        self.client(stream, totals).await;
                        drop(slot);
                    })),
                    Err(_) => return std::future::pending().await,
                },
                () = clients.one_done() => {}
            }
        }
    }

    async fn client(&self, stream: TcpStream, totals: &Mutex<Totals>) {
        let limits = Limits {
            body_bytes: 0,
            ..Limits::default()
        };
        let mut connection = TcpServer::from_stream(stream, limits);
        loop {
            let request = tokio::time::timeout(PATIENCE, connection.requests.next_head());
            let Ok(Ok(true)) = request.await else { return };
            let head = connection.requests.head();
            let page = self.answer(head, totals);
            let keep = head.keep_alive() && head.framing() == Framing::None;
            let to_head = head.method() == "HEAD";
            let out = connection.output.buffer();
            encode::status_line(out, page.status, None);
            encode::field(out, "Content-Type", page.content_type);
            encode::field(out, "Cache-Control", "no-store");
            encode::content_length(out, page.body.len() as u64);
            if !keep {
                encode::field(out, "Connection", "close");
            }
            encode::end_head(out);
            if !to_head {
                out.extend_from_slice(page.body.as_bytes());
            }
            let written = tokio::time::timeout(PATIENCE, connection.output.flush()).await;
            if !keep || !matches!(written, Ok(Ok(()))) {
                return;
            }
        }
    }

    fn answer(&self, head: &RequestHead, totals: &Mutex<Totals>) -> Page {
        if let Some(refusal) = self.refuse(head) {
            return refusal;
        }
        match (head.method(), head.path()) {
            ("GET" | "HEAD", "/metrics") => Page {
                status: 200,
                content_type: prometheus::CONTENT_TYPE,
                body: prometheus::render(&read(totals, Totals::families)),
            },
            (_, "/metrics") => Page::plain(405, "only GET and HEAD"),
            _ => Page::plain(404, "there is /metrics"),
        }
    }

    /// Nothing for web pages: on loopback the host must be named as loopback, which defeats DNS rebinding, and no other origin may ask.
    fn refuse(&self, head: &RequestHead) -> Option<Page> {
        if head.fields().get("origin").is_some() {
            return Some(Page::plain(403, "not for web pages"));
        }
        let foreign = self.address.ip().is_loopback() && !is_loopback(head.authority());
        foreign.then(|| Page::plain(421, "this endpoint is on loopback: name it so"))
    }
}

impl Page {
    fn plain(status: u16, why: &str) -> Self {
        Self {
            status,
            content_type: "text/plain; charset=utf-8",
            body: format!("{why}\n"),
        }
    }
}

fn is_loopback(authority: &str) -> bool {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => authority,
    };
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Clients under way, owned by who serves them: when it is dropped, so are they.
#[derive(Default)]
struct Clients<'a>(Vec<std::pin::Pin<Box<dyn Future<Output = ()> + 'a>>>);

impl<'a> Clients<'a> {
    fn push(&mut self, client: std::pin::Pin<Box<dyn Future<Output = ()> + 'a>>) {
        self.0.push(client);
    }

    /// Drives all of them until one is done; pending for ever without any.
    async fn one_done(&mut self) {
        std::future::poll_fn(|context| {
            let done = self
                .0
                .iter_mut()
                .position(|client| client.as_mut().poll(context).is_ready());
            match done {
                Some(place) => {
                    drop(self.0.swap_remove(place));
                    std::task::Poll::Ready(())
                }
                None => std::task::Poll::Pending,
            }
        })
        .await;
    }
}
