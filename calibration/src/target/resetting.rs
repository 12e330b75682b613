//! A target that answers, but resets the connection of every n-th request instead, and counts both.

use super::{ANSWER, Acceptor, next_request};
use crate::bench::Error;
use socket2::SockRef;
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// The running target.
pub struct Resetting {
    acceptor: Acceptor,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    received: AtomicU64,
    reset: AtomicU64,
}

impl Resetting {
    /// Starts it; every `every`-th request is reset.
    pub fn start(every: u64) -> Result<Self, Error> {
        let counts = Arc::new(Counts::default());
        let own = Arc::clone(&counts);
        let acceptor = Acceptor::start(move |stream, stop| serve(stream, stop, every, &own))?;
        Ok(Self { acceptor, counts })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.acceptor.address
    }

    /// Ends it; requests received and connections reset.
    pub fn stop(self) -> (u64, u64) {
        drop(self.acceptor);
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (read(&self.counts.received), read(&self.counts.reset))
    }
}

fn serve(mut stream: TcpStream, stop: &AtomicBool, every: u64, counts: &Counts) {
    if stream.set_nodelay(true).is_err() {
        return;
    }
    while next_request(&mut stream, stop) {
        let number = counts.received.fetch_add(1, Ordering::Relaxed) + 1;
        if number.is_multiple_of(every) {
            // Closing with nothing to linger for sends a reset.
            if SockRef::from(&stream)
                .set_linger(Some(Duration::ZERO))
                .is_ok()
            {
                counts.reset.fetch_add(1, Ordering::Relaxed);
            }
            return;
        }
        if stream.write_all(ANSWER).is_err() {
            return;
        }
    }
}
