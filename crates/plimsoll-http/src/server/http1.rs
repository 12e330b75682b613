//! Connections of HTTP/1 between exchanges: waiting for the next request in time, and the end.

use crate::codec::error::ReadError;
use crate::connection::TcpServer;
use crate::deadline::{Due, Elapsed, Watch};
use crate::drain::DrainBegins;
use plimsoll_base::ignored::Ignored as _;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

/// How long bytes that the client still sends are read and dropped after the last answer, so that it gets to read that answer.
const LINGER: Duration = Duration::from_secs(2);

/// Outcome of waiting for a request's first byte.
#[derive(Debug)]
pub enum Begun {
    /// It is here.
    Yes,
    /// The client closed, or the server is going down.
    Ended,
    /// Nothing came until the deadline.
    Idle,
    /// The connection failed, or what was left of the body before is malformed.
    Failed(ReadError),
}

/// The protocol of a connection in plaintext, as the client begins it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spoken {
    /// HTTP/1, or nothing that is known: who waits for a request will see.
    Http1,
    /// HTTP/2, by its preface.
    Http2,
    /// A preface that took longer than a head may.
    Late,
}

/// Outcome of waiting for the rest of a request's head.
#[derive(Debug)]
pub enum Head {
    /// It is complete.
    Complete,
    /// The client closed before it sent any of it.
    Ended,
    /// It took longer than it may.
    Late,
    /// It is malformed, or the connection failed.
    Failed(ReadError),
}

impl TcpServer {
    /// The protocol that the client speaks. Waits for its first byte until `idle`, from then on up to `limit` for as many more as it takes,
    /// and consumes none.
    pub async fn spoken(
        &mut self,
        watch: &mut Watch,
        idle: Due,
        limit: Duration,
        mut drain: Pin<&mut DrainBegins<'_>>,
    ) -> Spoken {
        if !matches!(self.begins(watch, idle, drain.as_mut()).await, Begun::Yes) {
            return Spoken::Http1;
        }
        let mut preface = pin!(self.requests.begins_with_preface());
        let preface_or_drain = poll_fn(|context| match preface.as_mut().poll(context) {
            Poll::Ready(begins) => Poll::Ready(begins.unwrap_or(false)),
            Poll::Pending => drain.as_mut().poll(context).map(|()| false),
        });
        match watch.within(limit, preface_or_drain).await {
            Ok(true) => Spoken::Http2,
            Ok(false) => Spoken::Http1,
            Err(Elapsed) => Spoken::Late,
        }
    }

    /// Waits for the first byte of the next request until `due`. What is left of a body that was refused is read before: it is small,
    /// sure to come, and no part of a head. A drain ends the wait, and not the one for the rest of the head.
    pub async fn begins(
        &mut self,
        watch: &mut Watch,
        due: Due,
        mut drain: Pin<&mut DrainBegins<'_>>,
    ) -> Begun {
        let requests = &mut self.requests;
        let begins = async {
            while requests.next_data().await?.is_some() {}
            Ok::<bool, ReadError>(requests.begins().await?)
        };
        let mut begins = pin!(begins);
        let begins_or_drain = poll_fn(|context| match begins.as_mut().poll(context) {
            Poll::Ready(begun) => Poll::Ready(begun),
            Poll::Pending => drain.as_mut().poll(context).map(|()| Ok(false)),
        });
        match watch.until_due(due, begins_or_drain).await {
            Ok(Ok(true)) => Begun::Yes,
            Ok(Ok(false)) => Begun::Ended,
            Ok(Err(error)) => Begun::Failed(error),
            Err(Elapsed) => Begun::Idle,
        }
    }

    /// Waits for the head of a request that has begun, for `limit` from when it had to be waited for.
    pub async fn head(&mut self, watch: &mut Watch, limit: Duration) -> Head {
        match watch.within(limit, self.requests.next_head()).await {
            Ok(Ok(true)) => Head::Complete,
            Ok(Ok(false)) => Head::Ended,
            Ok(Err(error)) => Head::Failed(error),
            Err(Elapsed) => Head::Late,
        }
    }

    /// Whether bytes of the client have arrived, or are sure to come, that nobody will read.
    #[must_use]
    pub fn has_unread(&self) -> bool {
        self.requests.has_buffered() || self.requests.body_pending()
    }

    /// Writes the last answer and that nothing follows it; whether the client lets it. If not, the connection is to be reset.
    #[must_use]
    pub async fn close(&mut self, watch: &mut Watch) -> bool {
        let shutdown = watch.within(LINGER, self.output.shutdown()).await;
        matches!(shutdown, Ok(Ok(())))
    }

    /// Closes while the client still sends: with bytes unread that would reset the connection and take the last answer along. What
    /// comes in the meantime is dropped; what the client has not taken by then is left to the system.
    #[must_use]
    pub async fn linger(&mut self, watch: &mut Watch) -> bool {
        let closed = self.close(watch).await;
        if closed {
            let rest = watch.within(LINGER, self.requests.discard()).await;
            rest.ignored("however it ends, the connection ends with it");
        }
        closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::limits::Limits;
    use crate::drain::Drain;
    use plimsoll_testbed::port::connected;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;
    use tokio::time::Instant;

    async fn pair() -> (TcpServer, TcpStream) {
        let (client, accepted) = connected().await.unwrap();
        (TcpServer::from_stream(accepted, Limits::default()), client)
    }

    /// The client reads only when the server has given up waiting for it to close.
    #[tokio::test(start_paused = true)]
    async fn an_answer_outlives_the_wait_for_its_client() {
        let (mut server, mut client) = pair().await;
        let mut watch = Watch::new(Instant::now());
        let answer = vec![b'x'; 100_000];
        server.output.buffer().extend_from_slice(&answer);
        assert!(server.linger(&mut watch).await);
        drop(server);
        let mut read = Vec::new();
        client.read_to_end(&mut read).await.unwrap();
        assert!(read == answer);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_may_be_silent_for_longer_than_its_preface_may_take() {
        let limit = Duration::from_millis(1);
        let spoken = async |begins: &'static [u8]| {
            let (mut server, mut client) = pair().await;
            let drain = Drain::default();
            let drain = pin!(drain.begins());
            let now = Instant::now();
            let mut watch = Watch::new(now);
            let client = async {
                tokio::time::sleep(5 * limit).await;
                client.write_all(begins).await.unwrap();
                client
            };
            let idle = now + Duration::from_secs(600);
            let server = server.spoken(&mut watch, Due::at(idle), limit, drain);
            tokio::join!(server, client).0
        };
        assert_eq!(
            spoken(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await,
            Spoken::Http2
        );
        assert_eq!(spoken(b"GET").await, Spoken::Http1);
        assert_eq!(spoken(b"PRI * HT").await, Spoken::Late);
    }
}
