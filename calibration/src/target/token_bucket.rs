//! A token bucket: so many requests a second are answered with 200, and what comes beyond is refused with 503. All answers take the same
//! time, so that only the refusals tell.

use super::{ANSWER, Acceptor, next_request};
use crate::bench::Error;
use crate::clock;
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The answer to a request for which there is no token.
const REFUSAL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
/// From a request to its answer: long beside what the generator itself may be late by.
const TAKES: Duration = Duration::from_millis(4);
/// Tokens are kept for so long: arrivals that a stall of the machine pushed together find theirs.
const KEEPS: Duration = Duration::from_millis(15);

/// The running target.
pub struct TokenBucket {
    acceptor: Acceptor,
}

/// The bucket as the generic cell rate algorithm has it (ITU-T I.371): when the next token is due, if all came evenly.
struct Bucket {
    due: Mutex<Instant>,
    apart: Duration,
}

impl TokenBucket {
    /// Starts one that gives out so many tokens a second.
    pub fn start(per_s: f64) -> Result<Self, Error> {
        let bucket = Bucket {
            due: Mutex::new(clock::now()),
            apart: Duration::from_secs_f64(1.0 / per_s),
        };
        let acceptor = Acceptor::start(move |stream, stop| {
            if serve(stream, stop, &bucket).is_err() {
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

fn serve(mut stream: TcpStream, stop: &AtomicBool, bucket: &Bucket) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    while next_request(&mut stream, stop) {
        let arrival = clock::now();
        let answer = if bucket.take(arrival) {
            ANSWER
        } else {
            REFUSAL
        };
        clock::until(arrival + TAKES);
        stream.write_all(answer)?;
    }
    Ok(())
}

impl Bucket {
    /// Whether there is a token.
    fn take(&self, now: Instant) -> bool {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let there = *due <= now + KEEPS;
        if there {
            *due = (*due).max(now) + self.apart;
        }
        there
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_evenly_and_are_kept_for_a_while() {
        let start = clock::now();
        let ms = |count| start + Duration::from_millis(count);
        let bucket = Bucket {
            due: Mutex::new(start),
            apart: Duration::from_millis(10),
        };
        let taken = [0, 0, 0, 0, 4, 6, 100, 110].map(|at| bucket.take(ms(at)));
        assert_eq!(taken, [true, true, false, false, false, true, true, true]);
    }
}
