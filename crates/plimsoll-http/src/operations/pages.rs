//! Small pages over one connection: what an endpoint for operators needs, with a deadline for everything that its client does.

use crate::codec::encode;
use crate::codec::head::{Framing, RequestHead};
use crate::codec::limits::Limits;
use crate::connection::TcpServer;
use crate::deadline::Watch;
use crate::drain::Drain;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::Instant;

/// An answer of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The status code.
    pub status: u16,
    /// `Content-Type`.
    pub content_type: &'static str,
    /// The whole body; for HEAD its length is said.
    pub body: String,
}

/// Answers requests of one client until it closes, sends a body, breaks the protocol, or lets `patience` pass over a request, over its
/// answer or between two; making the answer may take as long as it takes. Nothing is to be cached.
///
/// When `drain` begins, a client that was answered and has not asked again is let go of; any other is still answered, once.
pub async fn serve(
    stream: TcpStream,
    patience: Duration,
    drain: &Drain,
    answer: impl AsyncFn(&RequestHead) -> Page,
) {
    let limits = Limits {
        body_bytes: 0,
        ..Limits::default()
    };
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
        let Ok(Ok(true)) = request else { return };
        let head = connection.requests.head();
        let page = answer(head).await;
        let keep = head.keep_alive() && head.framing() == Framing::None && !drain.has_begun();
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
        let deadline = Instant::now() + patience;
        let flushed = watch.until(|| deadline, connection.output.flush()).await;
        if !keep || !matches!(flushed, Ok(Ok(()))) {
            return;
        }
        answered = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    /// The bytes that a client gets that sends `requests` and waits for the end.
    async fn answers(requests: &str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = async {
            let (stream, _) = listener.accept().await.unwrap();
            let page = async |head: &RequestHead| Page {
                status: 200,
                content_type: "text/plain",
                body: format!("{}\n", head.path()),
            };
            serve(stream, Duration::from_secs(5), &Drain::default(), page).await;
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
        let page = async |_: &RequestHead| Page {
            status: 200,
            content_type: "text/plain",
            body: "here".to_owned(),
        };
        let patience = Duration::from_secs(60);
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
            serve(idle_served, patience, &drain, page),
            serve(late_served, patience, &drain, page),
            clients,
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_client_is_waited_for_in_vain() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap());
        let (client, accepted) = tokio::join!(client, listener.accept());
        let stream = accepted.unwrap().0;
        let start = Instant::now();
        let page = async |_: &RequestHead| unreachable!("nothing was asked");
        serve(stream, Duration::from_secs(5), &Drain::default(), page).await;
        assert_eq!(start.elapsed().as_secs(), 5);
        drop(client);
    }
}
