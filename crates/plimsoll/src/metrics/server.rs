//! `GET /metrics`: the totals in Prometheus' text format. A few connections at a time, each with a deadline.

use super::read;
use crate::exit::Failure;
use plimsoll_http::authority::names_loopback;
use plimsoll_http::pages::{self, Page, Terms};
use plimsoll_http::{Drain, Listener, RequestHead};
use plimsoll_report::live::{Totals, prometheus};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::Duration;

/// A client sends no body.
const TERMS: Terms = Terms {
    patience: Duration::from_secs(15),
    body_bytes: 0,
};
/// Clients at a time; further ones wait to be accepted.
const CLIENTS: usize = 8;

/// The bound endpoint.
#[derive(Debug)]
pub(super) struct Server {
    listener: Listener,
    address: SocketAddr,
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
        let Ok(mut listener) = self.listener.for_shard() else {
            return std::future::pending().await;
        };
        let slots = tokio::sync::Semaphore::new(CLIENTS);
        let (drain, mut clients) = (&Drain::default(), Clients::default());
        loop {
            tokio::select! {
                accepted = async {
                    let slot = slots.acquire().await;
                    listener.accept().await.map(|(stream, _)| (stream, slot))
                } => match accepted {
                    Ok((stream, slot)) => clients.push(Box::pin(async move {
                        pages::serve(stream, TERMS, drain, async |head: &RequestHead, _: &[u8]| self.answer(head, totals)).await;
                        drop(slot);
                    })),
                    Err(_) => return std::future::pending().await,
                },
                () = clients.one_done() => {}
            }
        }
    }

    fn answer(&self, head: &RequestHead, totals: &Mutex<Totals>) -> Page {
        if let Some(refusal) = self.refuse(head) {
            return refusal;
        }
        match (head.method(), head.path()) {
            ("GET" | "HEAD", "/metrics") => Page::new(
                200,
                prometheus::CONTENT_TYPE,
                prometheus::render(&read(totals, Totals::families)),
            ),
            (_, "/metrics") => plain(405, "only GET and HEAD"),
            _ => plain(404, "there is /metrics"),
        }
    }

    /// Nothing for web pages: on loopback the host must be named as loopback, which defeats DNS rebinding, and no other origin may ask.
    fn refuse(&self, head: &RequestHead) -> Option<Page> {
        if head.fields().get("origin").is_some() {
            return Some(plain(403, "not for web pages"));
        }
        let foreign = self.address.ip().is_loopback() && !names_loopback(head.authority());
        foreign.then(|| plain(421, "this endpoint is on loopback: name it so"))
    }
}

fn plain(status: u16, why: &str) -> Page {
    Page::new(status, "text/plain; charset=utf-8", format!("{why}\n"))
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
