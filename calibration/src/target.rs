//! Small targets whose behaviour is known by construction. Each accepts on a thread of its own, reads on one thread per
//! connection, and ends when it is dropped.

pub mod caller;
pub mod failing;
pub mod fragile;
pub mod misbehaving;
pub mod moody;
pub mod resetting;
pub mod servers;
pub mod single_server;
pub mod token_bucket;

use crate::bench::Error;
use std::io::{ErrorKind, Read as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The only answer.
pub const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
/// Longest request head.
const MOST_HEAD: usize = 8 * 1024;
/// How often a waiting reader looks whether it shall end.
const LOOK: Duration = Duration::from_millis(200);

/// A listener and the threads that read its connections.
struct Acceptor {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Acceptor {
    /// `serve` gets each connection, on its own thread, and the signal to end.
    fn start(
        serve: impl Fn(TcpStream, &AtomicBool) + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let listening = |e| Error::io("listening", e);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(listening)?;
        let address = listener.local_addr().map_err(listening)?;
        let stop = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            std::thread::scope(|scope| {
                for stream in listener.incoming().map_while(Result::ok) {
                    if ends.load(Ordering::Relaxed) {
                        break;
                    }
                    let (serve, ends) = (&serve, &ends);
                    scope.spawn(move || serve(stream, ends));
                }
            });
        });
        Ok(Self {
            address,
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // One more connection wakes the accepting thread; if it cannot be made, that thread has ended already.
        let woken = TcpStream::connect(self.address).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| woken)
            && thread.join().is_err()
        {
            crate::say("calibration: a target panicked");
        }
    }
}

/// Reads one request without a body; `false` when the peer is done or the target shall end.
fn next_request(stream: &mut TcpStream, stop: &AtomicBool) -> bool {
    if stream.set_read_timeout(Some(LOOK)).is_err() {
        return false;
    }
    let mut head = Vec::new();
    let mut bytes = [0; 2048];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut bytes) {
            Ok(0) => return false,
            Ok(count) => head.extend_from_slice(&bytes[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if stop.load(Ordering::Relaxed) {
                    return false;
                }
            }
            Err(_) => return false,
        }
        if head.len() > MOST_HEAD {
            return false;
        }
    }
    true
}
