//! Several servers with a constant service time and one queue in order of arrival: the D/k of G/D/k. So many requests a second are its
//! capacity, and not one more.
//!
//! A request is served by whichever server is free first, from then or from its arrival on, whichever is later, by the clock (Kiefer and
//! Wolfowitz, 1955). Its connection's own thread waits for the end, so that requests of one connection do not wait for each other's answers
//! to be written.

use super::{ANSWER, Acceptor, next_request};
use crate::bench::Error;
use crate::clock;
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The running target.
pub struct Servers {
    acceptor: Acceptor,
}

/// When each server is free.
struct Queue {
    free: Mutex<Vec<Instant>>,
    service: Duration,
}

impl Servers {
    /// Starts so many servers, at least one, with this service time.
    pub fn start(servers: usize, service: Duration) -> Result<Self, Error> {
        let queue = Queue {
            free: Mutex::new(vec![clock::now(); servers]),
            service,
        };
        let acceptor = Acceptor::start(move |stream, stop| {
            if serve(stream, stop, &queue).is_err() {
                // The client is gone.
            }
        })?;
        Ok(Self { acceptor })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.acceptor.address
    }
}

fn serve(mut stream: TcpStream, stop: &AtomicBool, queue: &Queue) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    while next_request(&mut stream, stop) {
        let end = queue.enter(clock::now());
        clock::until(end);
        stream.write_all(ANSWER)?;
    }
    Ok(())
}

impl Queue {
    /// When a request that arrives now is done.
    fn enter(&self, arrival: Instant) -> Instant {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let first = free.iter_mut().min().expect("invariant: there is a server");
        *first = (*first).max(arrival) + self.service;
        *first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_that_is_free_first_takes_the_next() {
        let start = clock::now();
        let ms = |count| start + Duration::from_millis(count);
        let queue = Queue {
            free: Mutex::new(vec![start; 2]),
            service: Duration::from_millis(10),
        };
        let ends: Vec<Instant> = [0, 1, 2, 30].map(|at| queue.enter(ms(at))).into();
        assert_eq!(ends, [ms(10), ms(11), ms(20), ms(40)]);
    }
}
