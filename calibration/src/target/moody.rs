//! A target whose connections end when they like: behind an answer, or when the next request has come, which is then not executed. It
//! knows how often each POST was executed.

use super::{ANSWER, Acceptor};
use crate::bench::Error;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

/// How often a waiting reader looks whether it shall end.
const LOOK: Duration = Duration::from_millis(200);

/// The running target.
pub struct Moody {
    acceptor: Acceptor,
    executions: Arc<Executions>,
}

/// A count of the requests that were executed.
pub struct Executions {
    gets: AtomicU64,
    /// By the number in its path `/post/NUMBER`.
    posts: Box<[AtomicU8]>,
    /// Connections that it has closed.
    closed: AtomicU64,
}

impl Moody {
    /// Starts it, for so many POSTs.
    pub fn start(posts: usize) -> Result<Self, Error> {
        let executions = Arc::new(Executions {
            gets: AtomicU64::new(0),
            posts: (0..posts).map(|_| AtomicU8::new(0)).collect(),
            closed: AtomicU64::new(0),
        });
        let own = Arc::clone(&executions);
        let connections = AtomicU64::new(1);
        let acceptor = Acceptor::start(move |stream, stop| {
            let number = connections.fetch_add(1, Ordering::Relaxed);
            // Whatever ends a connection is what this target is for.
            drop(serve(&stream, stop, number, &own));
            own.closed.fetch_add(1, Ordering::Relaxed);
        })?;
        Ok(Self {
            acceptor,
            executions,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.acceptor.address
    }

    /// Ends it; what it has executed.
    pub fn stop(self) -> Arc<Executions> {
        drop(self.acceptor);
        self.executions
    }
}

impl Executions {
    /// GETs.
    pub fn gets(&self) -> u64 {
        self.gets.load(Ordering::Relaxed)
    }

    /// How often this POST was executed.
    pub fn of_post(&self, number: usize) -> u8 {
        self.posts[number].load(Ordering::Relaxed)
    }

    /// Connections that have ended.
    pub fn closed(&self) -> u64 {
        self.closed.load(Ordering::Relaxed)
    }
}

/// Every tenth answer is the connection's last; every tenth request but the first finds it closing. Drawn by xorshift64 (Marsaglia 2003),
/// keyed by the connection's number.
fn serve(
    stream: &TcpStream,
    stop: &AtomicBool,
    number: u64,
    executions: &Executions,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(LOOK))?;
    let mut reader = BufReader::new(stream);
    let mut random = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut first = true;
    while let Some(post) = next(&mut reader, stop)? {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let mood = random % 10;
        if mood == 0 && !first {
            return Ok(());
        }
        first = false;
        match post {
            Some(number) => executions.posts[number]
                .fetch_add(1, Ordering::Relaxed)
                .into(),
            None => executions.gets.fetch_add(1, Ordering::Relaxed),
        };
        (&mut &*stream).write_all(ANSWER)?;
        if mood == 1 {
            return Ok(());
        }
    }
    Ok(())
}

/// The next request: the number of a POST, whose body is empty, or a GET; `None` at the end of the connection.
fn next(
    reader: &mut BufReader<&TcpStream>,
    stop: &AtomicBool,
) -> std::io::Result<Option<Option<usize>>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match reader.read_until(b'\n', &mut head) {
            Ok(0) => return Ok(None),
            Ok(_) => {}
            Err(error) if is_late(&error) && !stop.load(Ordering::Relaxed) => {}
            Err(error) => return Err(error),
        }
    }
    let head = String::from_utf8_lossy(&head);
    let number = head.strip_prefix("POST /post/").and_then(|rest| {
        let number = rest.split(' ').next()?;
        number.parse().ok()
    });
    Ok(Some(number))
}

fn is_late(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}
