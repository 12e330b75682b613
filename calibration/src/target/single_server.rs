//! One server with a constant service time and a queue in order of arrival: the D/1 of M/D/1.
//!
//! Departures follow Lindley's recursion by the clock: a service begins at the end of the one before or at its request's arrival,
//! whichever is later, and ends exactly one service time after. The cost of reading and writing is thereby inside the service time,
//! and a stall of the machine delays whom it meets but takes no capacity from those behind.

use super::{ANSWER, Acceptor, next_request};
use crate::bench::Error;
use crate::clock;
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Requests that may wait: more than any check has connections.
const QUEUE: usize = 4096;

/// The running target.
pub struct SingleServer {
    acceptor: Acceptor,
    server: JoinHandle<Path>,
}

/// The path of the queue by Lindley's recursion, for the arrivals that really came.
#[derive(Debug, Clone, Default)]
pub struct Path {
    /// When the first one came.
    pub first: Option<Instant>,
    /// By second of arrival, counted from the first one.
    pub seconds: Vec<Served>,
}

/// Requests that came in the same second.
#[derive(Debug, Clone, Copy, Default)]
pub struct Served {
    /// How many.
    pub count: f64,
    /// Their times from arrival to departure by the recursion together, in seconds.
    pub sum_s: f64,
}

struct Request {
    arrival: Instant,
    stream: TcpStream,
}

impl SingleServer {
    /// Starts it with this service time.
    pub fn start(service: Duration) -> Result<Self, Error> {
        let (sender, receiver) = sync_channel(QUEUE);
        let acceptor = Acceptor::start(move |stream, stop| read(stream, stop, &sender))?;
        let server = std::thread::spawn(move || serve(&receiver, service));
        Ok(Self { acceptor, server })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.acceptor.address
    }

    /// Ends it and says what its arrivals had to expect.
    pub fn stop(self) -> Result<Path, Error> {
        drop(self.acceptor);
        self.server
            .join()
            .map_err(|_| Error::Measured("the single server panicked".to_owned()))
    }
}

fn read(mut stream: TcpStream, stop: &std::sync::atomic::AtomicBool, queue: &SyncSender<Request>) {
    if stream.set_nodelay(true).is_err() {
        return;
    }
    while next_request(&mut stream, stop) {
        let arrival = clock::now();
        let Ok(answered) = stream.try_clone() else {
            return;
        };
        let request = Request {
            arrival,
            stream: answered,
        };
        if queue.send(request).is_err() {
            return;
        }
    }
}

/// Serves until every reader has ended.
fn serve(queue: &Receiver<Request>, service: Duration) -> Path {
    let mut path = Path::default();
    let mut departure = clock::now();
    for mut request in queue {
        departure = departure.max(request.arrival) + service;
        clock::until(departure);
        if request.stream.write_all(ANSWER).is_ok() {
            path.add(request.arrival, departure);
        }
    }
    path
}

impl Path {
    fn add(&mut self, arrival: Instant, departure: Instant) {
        let first = *self.first.get_or_insert(arrival);
        let second = usize::try_from((arrival - first).as_secs()).unwrap_or(usize::MAX);
        if self.seconds.len() <= second {
            self.seconds.resize(second + 1, Served::default());
        }
        self.seconds[second].count += 1.0;
        self.seconds[second].sum_s += (departure - arrival).as_secs_f64();
    }
}
