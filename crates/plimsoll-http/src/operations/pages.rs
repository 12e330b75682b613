//! Small pages over one connection: what an endpoint for operators needs, with a deadline for everything that its client does.

use crate::codec::encode;
use crate::codec::error::ReadError;
use crate::codec::head::RequestHead;
use crate::codec::limits::Limits;
use crate::connection::TcpServer;
use crate::deadline::{Elapsed, Watch};
use crate::drain::Drain;
use crate::transport::listen::ShardListener;
use crate::transport::shard::propagate_panic;
use plimsoll_base::ignored::Ignored as _;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// An answer of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The status code.
    pub status: u16,
    /// `Content-Type`.
    pub content_type: &'static str,
    /// Further fields.
    pub fields: Vec<(&'static str, String)>,
    /// The whole body; for HEAD its length is said.
    pub body: String,
}

impl Page {
    /// A page without further fields.
    #[must_use]
    pub fn new(status: u16, content_type: &'static str, body: String) -> Self {
        Self {
            status,
            content_type,
            fields: Vec::new(),
            body,
        }
    }

    fn encode(&self, out: &mut Vec<u8>, keep: bool, to_head: bool) {
        encode::status_line(out, self.status, None);
        if self.status != NO_CONTENT {
            encode::field(out, "Content-Type", self.content_type);
            encode::content_length(out, self.body.len() as u64);
        }
        encode::field(out, "Cache-Control", "no-store");
        for (name, value) in &self.fields {
            encode::field(out, name, value);
        }
        if !keep {
            encode::field(out, "Connection", "close");
        }
        encode::end_head(out);
        if !to_head && self.status != NO_CONTENT {
            out.extend_from_slice(self.body.as_bytes());
        }
    }
}

const TEXT: &str = "text/plain; charset=utf-8";

/// The status of an answer that has no body, and says no length (RFC 9110 §8.6).
const NO_CONTENT: u16 = 204;

/// How long clients that were taken have for their answers when no others are taken any more.
const LEAVING: Duration = Duration::from_secs(5);

/// Limits of a client.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// How long it may take over a request, over its answer, and between two.
    pub patience: Duration,
    /// The most bytes that the body of a request may have.
    pub body_bytes: u64,
}

/// Answers requests of one client, each with its body, until it closes, breaks the protocol, or its [`Terms`]; making the answer may take
/// as long as it takes. Nothing is to be cached.
///
/// When `drain` begins, a client that was answered and has not asked again is let go of; any other is still answered, once.
pub async fn serve(
    stream: TcpStream,
    terms: Terms,
    drain: &Drain,
    answer: impl AsyncFn(&RequestHead, &[u8]) -> Page,
) {
    let Terms {
        patience,
        body_bytes,
    } = terms;
    let limits = Limits {
        body_bytes,
        ..Limits::default()
    };
    let mut body = Vec::new();
    let mut connection = TcpServer::from_stream(stream, limits);
    let mut watch = Watch::new(Instant::now() + patience);
    let mut answered = false;
    loop {
        let deadline = Instant::now() + patience;
        let request = tokio::select! {
            biased;
            request = watch.until(|| deadline, connection.requests.next_head()) => request,
            () = drain.begins(), if answered => return,
        };
        let request = match request {
            Ok(Ok(true)) => {
                body.clear();
                let whole = read_body(&mut connection, &mut body);
                watch.until(|| deadline, whole).await
            }
            Ok(Ok(false)) => return,
            Ok(Err(error)) => Ok(Err(error)),
            Err(Elapsed) => Err(Elapsed),
        };
        let (page, keep, to_head) = match request {
            Ok(Ok(())) => {
                let head = connection.requests.head();
                let page = answer(head, &body).await;
                let keep = head.keep_alive() && !drain.has_begun();
                (page, keep, head.method() == "HEAD")
            }
            Ok(Err(ReadError::Protocol(error))) => {
                let page = Page::new(error.status(), TEXT, format!("{error}\n"));
                (page, false, false)
            }
            Ok(Err(ReadError::Closed | ReadError::Io(_))) | Err(Elapsed) => return,
        };
        page.encode(connection.output.buffer(), keep, to_head);
        if !keep {
            // A client that still sends gets to read the answer, too.
            let closed = match connection.has_unread() {
                true => connection.linger(&mut watch).await,
                false => connection.close(&mut watch).await,
            };
            if !closed {
                connection.reset();
            }
            return;
        }
        let deadline = Instant::now() + patience;
        let flushed = watch.until(|| deadline, connection.output.flush()).await;
        if !matches!(flushed, Ok(Ok(()))) {
            return;
        }
        answered = true;
    }
}

/// Serves clients of a listener, so many at a time, until it is `over`; then begins the drain and waits for those that were taken and have yet
/// to be answered, for five seconds at most.
///
/// # Errors
/// The listener's, which is of no more use then.
pub async fn serve_until<F: Future<Output = ()> + 'static>(
    mut listener: ShardListener,
    at_a_time: usize,
    over: impl Future<Output = ()>,
    drain: &Drain,
    client: impl Fn(TcpStream) -> F,
) -> io::Result<()> {
    let (mut clients, mut over) = (JoinSet::new(), pin!(over));
    loop {
        tokio::select! {
            accepted = listener.accept(), if clients.len() < at_a_time => {
                clients.spawn_local(client(accepted?.0));
            }
            Some(ended) = clients.join_next() => propagate_panic(ended),
            () = &mut over => break,
        }
    }
    drop(listener);
    drain.begin();
    let answered = async { while clients.join_next().await.is_some() {} };
    tokio::time::timeout(LEAVING, answered)
        .await
        .ignored("whoever is not answered by now is cut off");
    Ok(())
}

/// Reads the body of the request whose head came last.
async fn read_body(connection: &mut TcpServer, body: &mut Vec<u8>) -> Result<(), ReadError> {
    if connection.requests.head().expects_continue() {
        let out = connection.output.buffer();
        encode::status_line(out, 100, None);
        encode::end_head(out);
        connection.output.flush().await?;
    }
    connection.requests.read_body(body).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testbed::port::connected;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    const TERMS: Terms = Terms {
        patience: Duration::from_secs(5),
        body_bytes: 10,
    };

    /// The bytes that a client gets that sends `requests` and waits for the end.
    async fn answers(requests: &str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = async {
            let (stream, _) = listener.accept().await.unwrap();
            let page = async |head: &RequestHead, body: &[u8]| {
                let body = format!("{}{}\n", head.path(), String::from_utf8_lossy(body));
                Page::new(200, "text/plain", body)
            };
            serve(stream, TERMS, &Drain::default(), page).await;
        };
        let client = async {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(requests.as_bytes()).await.unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).await.unwrap();
            text
        };
        tokio::join!(server, client).1
    }

    #[tokio::test]
    async fn a_connection_is_kept_until_its_client_closes_it() {
        let text = answers(
            "GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        );
        let text = text.await;
        assert!(text.contains("\r\n\r\n/a\nHTTP/1.1 200"), "{text}");
        assert!(text.ends_with("Connection: close\r\n\r\n/b\n"), "{text}");
    }

    #[tokio::test]
    async fn bodies_are_read_up_to_a_limit() {
        let post = |length: usize| {
            let body = "x".repeat(length);
            format!("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{body}")
        };
        let end = "GET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let text = answers(&(post(10) + end)).await;
        assert!(
            text.contains("\r\n\r\n/axxxxxxxxxx\nHTTP/1.1 200"),
            "{text}"
        );
        let text = answers(&(post(11) + end)).await;
        assert!(text.starts_with("HTTP/1.1 413 "), "{text}");
        assert!(text.contains("Connection: close"), "{text}");
        assert!(!text.contains("/b"), "{text}");
    }

    #[tokio::test]
    async fn head_has_a_length_and_no_body() {
        let text = answers("HEAD /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
        assert!(text.to_lowercase().contains("content-length: 3\r\n"));
        assert!(text.ends_with("\r\n\r\n"), "{text}");
    }

    #[tokio::test]
    async fn at_a_drain_the_idle_are_let_go_of_and_who_has_yet_to_ask_is_answered() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut idle = TcpStream::connect(address).await.unwrap();
        let idle_served = listener.accept().await.unwrap().0;
        let mut late = TcpStream::connect(address).await.unwrap();
        let late_served = listener.accept().await.unwrap().0;
        let drain = Drain::default();
        let page =
            async |_: &RequestHead, _: &[u8]| Page::new(200, "text/plain", "here".to_owned());
        let clients = async {
            let request = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
            idle.write_all(request).await.unwrap();
            let mut bytes = Vec::new();
            while !bytes.ends_with(b"here") {
                assert_ne!(idle.read_buf(&mut bytes).await.unwrap(), 0);
            }
            assert!(!String::from_utf8_lossy(&bytes).contains("close"));
            drain.begin();
            bytes.clear();
            assert_eq!(idle.read_buf(&mut bytes).await.unwrap(), 0);
            late.write_all(request).await.unwrap();
            late.read_to_end(&mut bytes).await.unwrap();
            let text = String::from_utf8(bytes).unwrap();
            assert!(text.ends_with("Connection: close\r\n\r\nhere"), "{text}");
        };
        tokio::join!(
            serve(idle_served, TERMS, &drain, page),
            serve(late_served, TERMS, &drain, page),
            clients,
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_client_is_waited_for_in_vain() {
        let (client, stream) = connected().await.unwrap();
        let start = Instant::now();
        let page = async |_: &RequestHead, _: &[u8]| unreachable!("nothing was asked");
        serve(stream, TERMS, &Drain::default(), page).await;
        assert_eq!(start.elapsed().as_secs(), 5);
        drop(client);
    }
}
