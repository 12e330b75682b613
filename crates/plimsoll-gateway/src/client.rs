//! A client's connection: reading heads in time, keeping it between requests, ending it properly.
//!
//! What happens to a request that was read is [`crate::exchange`]'s.

use crate::answer::{Answer, Delivery};
use crate::deadline::Watch;
use crate::exchange::{self, After, Scratch};
use crate::shard::Shard;
use plimsoll_base::counters::Counter;
use plimsoll_http::{Framing, ReadError, TcpServer};
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::Instant;

/// How long what the client still sends is read and dropped after the last answer, so that it gets to read that answer.
const LINGER: Duration = Duration::from_secs(2);

/// One client.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) connection: TcpServer,
    pub(crate) watch: Watch,
    /// The peer's address, as text.
    pub(crate) peer: String,
    /// Whether the peer is one of the trusted proxies.
    pub(crate) trusted: bool,
    pub(crate) scratch: Scratch,
}

/// What came of waiting for a request.
enum Waited {
    Request,
    /// The client closed, or was idle for too long, or the gateway is draining.
    Ended,
    /// The connection failed inside a head.
    Broken,
    Refused(Answer),
}

/// Serves one client until its connection ends. Never fails: what goes wrong is the client's or counted.
pub(crate) async fn serve(shard: Rc<Shard>, stream: TcpStream) {
    let now = Instant::now();
    let Ok(mut client) = Client::new(&shard, stream, now) else {
        return; // gone before it said anything
    };
    let drained = shard.drain.notified();
    let mut drained = pin!(drained);
    let mut deadline = now + shard.service.timeouts.request_head;
    loop {
        match client.wait(&shard, deadline, drained.as_mut()).await {
            Waited::Request => {}
            Waited::Ended => return,
            Waited::Broken => return client.connection.reset(),
            Waited::Refused(answer) => return client.refuse(&shard, &answer).await,
        }
        match exchange::serve(&shard, &mut client).await {
            After::Keep if shard.draining.get() => return client.close().await,
            After::Keep => deadline = Instant::now() + shard.service.timeouts.idle,
            After::Close if client.has_unread() => return client.linger().await,
            After::Close => return client.close().await,
            After::Abort => return client.connection.reset(),
        }
    }
}

impl Client {
    fn new(shard: &Shard, stream: TcpStream, now: Instant) -> io::Result<Self> {
        let peer = stream.peer_addr()?.ip().to_canonical();
        Ok(Self {
            connection: TcpServer::from_stream(stream, shard.service.limits.request),
            watch: Watch::new(now + shard.service.timeouts.request_head),
            peer: peer.to_string(),
            trusted: shard.service.trusts(peer),
            scratch: Scratch::default(),
        })
    }

    /// Waits for a request's head until `deadline`. A head that has begun on an idle connection gets its own time then.
    async fn wait(
        &mut self,
        shard: &Shard,
        deadline: Instant,
        mut drained: std::pin::Pin<&mut impl Future<Output = ()>>,
    ) -> Waited {
        let head = self.connection.requests.next_head();
        let head_or_drain = async {
            let mut head = pin!(head);
            poll_fn(|cx| match head.as_mut().poll(cx) {
                Poll::Ready(result) => Poll::Ready(Some(result)),
                Poll::Pending if shard.draining.get() => Poll::Ready(None),
                Poll::Pending => drained.as_mut().poll(cx).map(|()| None),
            })
            .await
        };
        let mut result = self.watch.until(|| deadline, head_or_drain).await;
        let begun = self.connection.requests.has_buffered();
        if begun && !matches!(result, Ok(Some(_))) {
            let deadline = Instant::now() + shard.service.timeouts.request_head;
            let head = self.connection.requests.next_head();
            result = self
                .watch
                .until(|| deadline, async { Some(head.await) })
                .await;
        }
        match result {
            Ok(Some(Ok(true))) => Waited::Request,
            Ok(Some(Ok(false)) | None) => Waited::Ended,
            Ok(Some(Err(ReadError::Protocol(error)))) => {
                Waited::Refused(Answer::new(error.status(), error.to_string()))
            }
            Ok(Some(Err(ReadError::Closed | ReadError::Io(_)))) => Waited::Broken,
            Err(_) if begun => {
                Waited::Refused(Answer::new(408, "the request's head took too long"))
            }
            Err(_) => Waited::Ended,
        }
    }

    /// Tells the client why its bytes are no request, and ends the connection.
    async fn refuse(mut self, shard: &Shard, answer: &Answer) {
        let unrouted = shard.metrics.routes.last();
        if let Some(metrics) = unrouted {
            metrics.answered(answer.status());
        }
        for counter in [Counter::Malformed, Counter::Received, Counter::Served] {
            shard.counters.add(counter, 1);
        }
        let delivery = Delivery {
            to_head: false,
            close: true,
            http10: false,
        };
        answer.write(self.connection.output.buffer(), delivery);
        self.linger().await;
    }

    /// Whether bytes of the client have arrived, or are sure to come, that nobody wants any more.
    fn has_unread(&self) -> bool {
        let requests = &self.connection.requests;
        let has_body = requests.head().framing() != Framing::None;
        requests.has_buffered() || (has_body && requests.body_pending())
    }

    /// Ends the connection after its last answer.
    async fn close(mut self) {
        let deadline = Instant::now() + LINGER;
        let shutdown = self.connection.output.shutdown();
        if !matches!(self.watch.until(|| deadline, shutdown).await, Ok(Ok(()))) {
            self.connection.reset();
        }
    }

    /// Ends the connection while the client still sends: closing with bytes unread would reset it and take the answer along.
    async fn linger(mut self) {
        let deadline = Instant::now() + LINGER;
        let TcpServer { requests, output } = &mut self.connection;
        let closing = async {
            output.shutdown().await?;
            requests.discard().await
        };
        if !matches!(self.watch.until(|| deadline, closing).await, Ok(Ok(()))) {
            self.connection.reset();
        }
    }
}
