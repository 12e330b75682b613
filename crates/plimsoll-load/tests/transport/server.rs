//! Servers that say what they saw: HTTP/1.1 or HTTP/2, clear or secured, obliging or not.

use bytes::Bytes;
use h2::{Reason, server};
use http::Response;
use plimsoll_http::{Limits, Listener, Stream, TcpServer, encode};
use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::{TlsAcceptor, TlsStream};

/// The server's reaction to the request of this number, counted from 0 over all connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Says 200 with a body of so many bytes.
    Bytes(usize),
    /// HTTP/1.1: says 200, and the body a while later.
    InParts,
    /// Never says anything.
    Never,
    /// HTTP/2: refuses the stream.
    Refuse,
    /// HTTP/2: resets the stream.
    ResetStream,
    /// HTTP/2: says 200, and that it takes no further streams.
    ThenGoAway,
    /// Drops the connection.
    Drop,
}

/// A server's account of the requests it saw.
#[derive(Debug, Default)]
pub struct Seen {
    pub connections: u64,
    pub requests: u64,
    pub sources: HashSet<IpAddr>,
    pub resumed: u64,
    /// The certificate of the client, and how many requests came with it.
    pub certificates: HashSet<Vec<u8>>,
    /// The most streams of one connection at once.
    pub streams: usize,
}

/// How a server is.
#[derive(Clone)]
pub struct Manner {
    pub tls: Option<TlsAcceptor>,
    pub http2: bool,
    pub answer: fn(u64) -> Answer,
}

/// A server on a thread of its own; it stops when dropped.
pub struct Server {
    pub address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
    stop: watch::Sender<bool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Server {
    pub fn start(manner: Manner) -> Self {
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::<Mutex<Seen>>::default();
        let (stop, stopped) = watch::channel(false);
        let shared = Arc::clone(&seen);
        let thread = std::thread::spawn(move || {
            plimsoll_http::shard::run_shards(1, "server", |_| {
                serve(
                    &listener,
                    manner.clone(),
                    Arc::clone(&shared),
                    stopped.clone(),
                )
            })
            .unwrap();
        });
        Self {
            address,
            seen,
            stop,
            thread: Some(thread),
        }
    }

    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

async fn serve(
    listener: &Listener,
    manner: Manner,
    seen: Arc<Mutex<Seen>>,
    mut stopped: watch::Receiver<bool>,
) {
    let mut listener = listener.for_shard().unwrap();
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = stopped.wait_for(|stop| *stop) => break,
            accepted = listener.accept() => {
                let (stream, peer) = accepted.unwrap();
                {
                    let mut seen = seen.lock().unwrap();
                    seen.connections += 1;
                    seen.sources.insert(peer.ip());
                }
                let (manner, seen) = (manner.clone(), Arc::clone(&seen));
                connections.spawn_local(async move {
                    let stream = match &manner.tls {
                        None => Stream::Clear(stream),
                        Some(acceptor) => {
                            let Ok(secured) = acceptor.accept(stream).await else { return };
                            note_tls(&secured, &seen);
                            Stream::Tls(Box::new(TlsStream::Server(secured)))
                        }
                    };
                    if manner.http2 {
                        converse2(stream, manner.answer, &seen).await;
                    } else {
                        converse1(stream, manner.answer, &seen).await;
                    }
                });
            }
        }
    }
}

fn note_tls(stream: &tokio_rustls::server::TlsStream<tokio::net::TcpStream>, seen: &Mutex<Seen>) {
    let session = stream.get_ref().1;
    let mut seen = seen.lock().unwrap();
    if session.handshake_kind() == Some(rustls::HandshakeKind::Resumed) {
        seen.resumed += 1;
    }
    if let Some([certificate, ..]) = session.peer_certificates() {
        seen.certificates.insert(certificate.to_vec());
    }
}

fn next(seen: &Mutex<Seen>, answer: fn(u64) -> Answer) -> Answer {
    let mut seen = seen.lock().unwrap();
    seen.requests += 1;
    answer(seen.requests - 1)
}

async fn converse1(stream: Stream, answer: fn(u64) -> Answer, seen: &Mutex<Seen>) {
    let mut connection = TcpServer::from_stream(stream, Limits::default());
    while let Ok(true) = connection.requests.next_head().await {
        let keep_alive = connection.requests.head().keep_alive();
        let out = connection.output.buffer();
        match next(seen, answer) {
            Answer::Bytes(bytes) => {
                encode::status_line(out, 200, None);
                encode::content_length(out, bytes as u64);
                encode::end_head(out);
                out.resize(out.len() + bytes, b'x');
            }
            Answer::InParts => {
                encode::status_line(out, 200, None);
                encode::content_length(out, 2);
                encode::end_head(out);
                if connection.output.flush().await.is_err() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
                connection.output.buffer().extend_from_slice(b"ok");
            }
            Answer::Never => std::future::pending().await,
            _ => return,
        }
        if connection.output.flush().await.is_err() || !keep_alive {
            return;
        }
    }
}

async fn converse2(stream: Stream, answer: fn(u64) -> Answer, seen: &Mutex<Seen>) {
    let Ok(mut connection) = server::handshake(stream).await else {
        return;
    };
    let mut held = vec![];
    let mut sending = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = connection.accept() => accepted,
            Some(_) = sending.join_next() => continue,
        };
        let Some(Ok((_request, mut respond))) = accepted else {
            return;
        };
        match next(seen, answer) {
            Answer::Never => {
                held.push(respond);
                let mut seen = seen.lock().unwrap();
                seen.streams = seen.streams.max(held.len());
            }
            Answer::Drop => return,
            Answer::Refuse => respond.send_reset(Reason::REFUSED_STREAM),
            Answer::ResetStream => respond.send_reset(Reason::INTERNAL_ERROR),
            answer => {
                if answer == Answer::ThenGoAway {
                    connection.graceful_shutdown();
                }
                let bytes = match answer {
                    Answer::Bytes(bytes) => bytes,
                    _ => 2,
                };
                let mut stream = respond.send_response(Response::new(()), false).unwrap();
                // The windows are waited for inside.
                sending.spawn_local(async move {
                    if stream
                        .send_data(Bytes::from(vec![b'x'; bytes]), true)
                        .is_ok()
                    {
                        std::future::poll_fn(|context| stream.poll_reset(context))
                            .await
                            .ok();
                    }
                });
            }
        }
    }
}
