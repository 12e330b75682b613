//! One shard's client: an exchange with a host that is allowed, over a kept connection or a new one, within one deadline.

use super::Outgoing;
use crate::kept_body::Full;
use plimsoll_http::tls::{Connector, HandshakeError};
use plimsoll_http::{
    ConnectError, Pool, PoolLimits, ReadError, ResponseHead, ResponseReader, Stream, TcpClient,
    Url, connect_stream,
};
use std::cell::RefCell;
use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncRead;
use tokio::time::Instant;

/// How long one address may take to accept a connection before the next is tried.
const CONNECT: Duration = Duration::from_secs(10);
/// Idle connections to one host.
const IDLE_PER_HOST: usize = 64;
/// Idle connections of a shard.
pub(super) const IDLE: usize = 512;
/// How long a connection may be idle and still be used.
const IDLE_TIME: Duration = Duration::from_secs(30);
/// Hosts for which TLS is kept set up; for one more, all are forgotten.
const CONNECTORS: usize = 256;
/// Interim answers before the final one.
const INTERIM: usize = 16;

/// A shard's client.
#[derive(Debug)]
pub(crate) struct Client {
    shared: Arc<Outgoing>,
    pool: RefCell<Pool<Origin>>,
    connectors: RefCell<HashMap<String, Connector>>,
}

/// Where a connection leads. What was secured for one name must not serve another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Origin {
    scheme: &'static str,
    host: String,
    port: u16,
}

/// A request that is to be sent.
#[derive(Debug)]
pub(crate) struct Sending<'a> {
    pub(crate) url: &'a Url,
    pub(crate) method: &'a str,
    /// The whole head, its empty line included.
    pub(crate) head: &'a [u8],
    pub(crate) body: &'a [u8],
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) head: ResponseHead,
    pub(crate) body: Vec<u8>,
    /// From the first byte sent to the last byte received.
    pub(crate) time: Duration,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    /// The host, or what it resolves to, is not allowed.
    #[error("{0} is not one of --allow-proxy-targets, or one of --deny-proxy-targets")]
    Denied(String),
    /// The handshake failed, or TLS cannot be set up.
    #[error("{0}")]
    Tls(String),
    #[error("{0}")]
    Network(String),
}

/// Why an exchange over one connection failed.
#[derive(Debug)]
enum Broken {
    Read(ReadError),
    /// It is no answer to this request.
    Unfit(&'static str),
}

impl From<ReadError> for Broken {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl Client {
    pub(crate) fn new(shared: Arc<Outgoing>) -> Self {
        Self {
            shared,
            pool: RefCell::new(Pool::new(PoolLimits {
                idle_per_endpoint: IDLE_PER_HOST,
                idle_timeout: IDLE_TIME,
            })),
            connectors: RefCell::default(),
        }
    }

    /// State that all shards share.
    pub(crate) fn shared(&self) -> &Outgoing {
        &self.shared
    }

    /// Sends a request and takes its answer whole. `room` is asked for the room that pieces of its body take.
    pub(crate) async fn exchange(
        &self,
        sending: &Sending<'_>,
        room: impl FnMut(usize) -> Result<(), Full>,
    ) -> Result<Received, Failure> {
        let timeout = self.shared.config.timeout;
        tokio::time::timeout(timeout, self.attempts(sending, room))
            .await
            .unwrap_or_else(|_| {
                let seconds = timeout.as_secs_f64();
                Err(Failure::Network(format!("no answer within {seconds} s")))
            })
    }

    /// Closes connections that have been idle too long; never ends.
    pub(crate) async fn tidy(&self) -> io::Result<()> {
        loop {
            tokio::time::sleep(IDLE_TIME).await;
            self.pool.borrow_mut().close_expired(Instant::now());
        }
    }

    /// Over an idle connection, if there is one, and over a new one if that had been closed meanwhile and sending twice does no harm.
    async fn attempts(
        &self,
        sending: &Sending<'_>,
        mut room: impl FnMut(usize) -> Result<(), Full>,
    ) -> Result<Received, Failure> {
        let origin = Origin::of(sending.url);
        let targets = &self.shared.config.targets;
        if !targets.may_allow(&origin.host, origin.port) {
            return Err(Failure::Denied(sending.url.authority.clone()));
        }
        let _place = self.shared.connections.acquire().await;
        let idle = self.pool.borrow_mut().take(&origin, Instant::now());
        if let Some(mut connection) = idle {
            match attempt(&mut connection, sending, &mut room).await {
                Ok(received) => {
                    self.keep(origin, connection);
                    return Ok(received);
                }
                Err(Broken::Read(ReadError::Closed | ReadError::Io(_)))
                    if is_repeatable(sending.method) && !connection.responses.received_any() => {}
                Err(broken) => return Err(broken.failure(&connection)),
            }
        }
        let mut connection = self.connect(&origin).await?;
        match attempt(&mut connection, sending, &mut room).await {
            Ok(received) => {
                self.keep(origin, connection);
                Ok(received)
            }
            Err(broken) => Err(broken.failure(&connection)),
        }
    }

    fn keep(&self, origin: Origin, connection: Box<TcpClient>) {
        let mut pool = self.pool.borrow_mut();
        if pool.idle() < IDLE {
            pool.put(origin, connection, Instant::now());
        }
    }

    /// A new connection to the first address of the host that is allowed and accepts one.
    async fn connect(&self, origin: &Origin) -> Result<Box<TcpClient>, Failure> {
        let host = origin.host.as_str();
        let found = tokio::net::lookup_host((host, origin.port)).await;
        let found =
            found.map_err(|error| Failure::Network(format!("{host}: {}", plain(&error))))?;
        let targets = &self.shared.config.targets;
        let mut failure = Failure::Network(format!("{host} resolves to nothing"));
        for address in found {
            // The very address that is judged is connected to: a second lookup could give another.
            if !targets.allow(host, address) {
                failure = Failure::Denied(format!("{host} ({address})"));
                continue;
            }
            match self.connect_to(address, origin).await {
                Err(refused) => failure = refused,
                connected => return connected.map(Box::new),
            }
        }
        Err(failure)
    }

    async fn connect_to(&self, address: SocketAddr, origin: &Origin) -> Result<TcpClient, Failure> {
        let connected = tokio::time::timeout(CONNECT, connect_stream(address, None)).await;
        let stream = connected
            .unwrap_or(Err(ConnectError::TimedOut))
            .map_err(|error| {
                let why = match &error {
                    ConnectError::TimedOut => "Connect timed out".to_owned(),
                    ConnectError::Refused(error) | ConnectError::Exhausted(error) => plain(error),
                };
                Failure::Network(format!("Connect to {origin} failed: {why}"))
            })?;
        let stream = if origin.scheme == "https" {
            let connector = self.connector(&origin.host).await?;
            let secured = connector.secure(stream).await;
            let secured = secured.map_err(|error: HandshakeError| Failure::Tls(error.to_string()));
            Stream::Tls(Box::new(secured?))
        } else {
            Stream::Clear(stream)
        };
        Ok(TcpClient::from_stream(stream, self.shared.limits))
    }

    /// TLS towards a host, set up once.
    async fn connector(&self, host: &str) -> Result<Connector, Failure> {
        let kept = self.connectors.borrow().get(host).cloned();
        if let Some(connector) = kept {
            return Ok(connector);
        }
        let (shared, name) = (Arc::clone(&self.shared), host.to_owned());
        let tls = tokio::task::spawn_blocking(move || shared.tls(&name)).await;
        let tls = tls.unwrap_or_else(|error| Err(error.to_string()));
        let connector = tls.map_err(Failure::Tls)?.connector(None);
        let mut connectors = self.connectors.borrow_mut();
        if connectors.len() >= CONNECTORS {
            connectors.clear();
        }
        connectors.insert(host.to_owned(), connector.clone());
        Ok(connector)
    }
}

impl Origin {
    fn of(url: &Url) -> Self {
        Self {
            scheme: url.scheme,
            host: url.host.to_ascii_lowercase(),
            port: url.port,
        }
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { scheme, host, port } = self;
        if host.contains(':') {
            write!(f, "{scheme}://[{host}]:{port}")
        } else {
            write!(f, "{scheme}://{host}:{port}")
        }
    }
}

impl Broken {
    fn failure(self, connection: &TcpClient) -> Failure {
        Failure::Network(match self {
            Self::Read(ReadError::Closed) if !connection.responses.received_any() => {
                "The target server failed to respond".to_owned()
            }
            Self::Read(ReadError::Io(error)) => plain(&error),
            Self::Read(error) => error.to_string(),
            Self::Unfit(why) => why.to_owned(),
        })
    }
}

/// One request and its answer. The request may still be on its way when the answer comes.
async fn attempt(
    connection: &mut TcpClient,
    sending: &Sending<'_>,
    room: &mut impl FnMut(usize) -> Result<(), Full>,
) -> Result<Received, Broken> {
    let TcpClient { responses, output } = connection;
    responses.expect(sending.method == "HEAD");
    output.buffer().extend_from_slice(sending.head);
    output.buffer().extend_from_slice(sending.body);
    let sent = Instant::now();
    let body = {
        let mut upload = pin!(output.flush());
        let mut answer = pin!(read_answer(responses, room));
        let mut uploading = true;
        let both = poll_fn(|context| {
            // What is wrong with the upload shows in the answer: a server may refuse a request before it has read all of it.
            uploading = uploading && upload.as_mut().poll(context).is_pending();
            answer.as_mut().poll(context)
        });
        both.await?
    };
    Ok(Received {
        time: sent.elapsed(),
        head: responses.head().clone(),
        body,
    })
}

/// Reads the answer; its body.
async fn read_answer<R: AsyncRead + Unpin>(
    responses: &mut ResponseReader<R>,
    room: &mut impl FnMut(usize) -> Result<(), Full>,
) -> Result<Vec<u8>, Broken> {
    for _ in 0..INTERIM {
        responses.next_head().await?;
        match responses.head().status() {
            101 => return Err(Broken::Unfit("the target server wants another protocol")),
            100..200 => continue,
            _ => {}
        }
        let mut body = Vec::new();
        while let Some(data) = responses.next_data().await? {
            let full = |Full: Full| Broken::Unfit("too many bodies are held");
            room(data.len()).map_err(full)?;
            body.extend_from_slice(data);
        }
        return Ok(body);
    }
    Err(Broken::Unfit("the target server has only interim answers"))
}

/// Whether sending a request twice does no harm (RFC 9110 §9.2.2).
fn is_repeatable(method: &str) -> bool {
    matches!(
        method,
        "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE"
    )
}

/// A system's error without its number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}
