//! A program under test whose limit is known: this one again, as a small HTTP server or proxy with one thing wrong with it.
//!
//! `plimsoll-calibration subject --port 8080 --upstream 127.0.0.1:9000 --pool 4`: each connection has a thread of its own, and whatever is
//! not asked for costs next to nothing. The lab starts it as a component, so that all of its probes see it as they would see a foreign program.

use crate::bench::Error;
use crate::clock;
use crate::places::Places;
use clap::Parser;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

/// The first argument that makes this program a subject.
pub const WORD: &str = "subject";

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
/// Longest head of a request or an answer.
const MOST_HEAD: usize = 16 * 1024;
/// Requests that may wait for the one thread.
const MOST_JOBS: usize = 4096;

/// The fault of a subject, as its arguments.
#[derive(Debug, Clone, Parser)]
#[command(name = WORD)]
pub struct Arguments {
    /// Where it listens, on loopback.
    #[arg(long)]
    port: u16,
    /// Processor time of each request, in microseconds.
    #[arg(long, default_value_t = 0)]
    work_us: u64,
    /// One thread does all of that work.
    #[arg(long)]
    one_thread: bool,
    /// Where each request is handed on to.
    #[arg(long)]
    upstream: Option<SocketAddr>,
    /// The path that is asked for there.
    #[arg(long, default_value = "/json/valid")]
    path: String,
    /// So many requests may be there at once.
    #[arg(long)]
    pool: Option<usize>,
    /// Connections that may wait to be accepted.
    #[arg(long, default_value_t = 1024)]
    backlog: i32,
    /// Between two of them, in milliseconds.
    #[arg(long, default_value_t = 0)]
    accept_gap_ms: u64,
}

/// Serves until it is killed. `arguments`: those behind [`WORD`].
pub fn run(arguments: impl Iterator<Item = String>) -> Result<(), Error> {
    let words = std::iter::once(WORD.to_owned()).chain(arguments);
    let subject =
        Arguments::try_parse_from(words).map_err(|error| Error::Missing(error.to_string()))?;
    let listening = |error| Error::io("listening", error);
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)).map_err(listening)?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, subject.port));
    socket.set_reuse_address(true).map_err(listening)?;
    socket.bind(&address.into()).map_err(listening)?;
    socket.listen(subject.backlog).map_err(listening)?;
    let worker = subject.one_thread.then(|| one_thread(subject.work_us));
    let server = Arc::new(Server {
        places: Places::new(subject.pool),
        worker,
        subject,
    });
    loop {
        let (stream, _) = socket.accept().map_err(listening)?;
        let server_of_it = Arc::clone(&server);
        std::thread::spawn(move || {
            if server_of_it.serve(stream.into()).is_err() {
                // The client is gone.
            }
        });
        if server.subject.accept_gap_ms > 0 {
            clock::sleep(Duration::from_millis(server.subject.accept_gap_ms));
        }
    }
}

/// The state that connections share.
struct Server {
    subject: Arguments,
    /// The pool.
    places: Places,
    worker: Option<SyncSender<SyncSender<()>>>,
}

impl Server {
    fn serve(&self, mut client: TcpStream) -> std::io::Result<()> {
        client.set_nodelay(true)?;
        let mut upstream = None;
        while read_head(&mut client)?.is_some() {
            self.work();
            if let Some(address) = self.subject.upstream {
                let _place = self.places.take();
                self.ask(address, &mut upstream)?;
            }
            client.write_all(ANSWER)?;
        }
        Ok(())
    }

    fn work(&self) {
        match &self.worker {
            None => spin(self.subject.work_us),
            Some(worker) => {
                let (done, wait) = sync_channel(1);
                if worker.send(done).is_ok() && wait.recv().is_err() {
                    // The worker has ended, and so will this program.
                }
            }
        }
    }

    /// One exchange on a connection that is kept. By hand, for nothing may cost here but the fault that was built in.
    fn ask(&self, address: SocketAddr, kept: &mut Option<TcpStream>) -> std::io::Result<()> {
        let stream = match kept {
            Some(stream) => stream,
            None => {
                let stream = TcpStream::connect(address)?;
                stream.set_nodelay(true)?;
                kept.insert(stream)
            }
        };
        let path = &self.subject.path;
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: upstream\r\n\r\n").as_bytes())?;
        let Some((head, body)) = read_head(stream)? else {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        };
        let mut left = content_length(&head).saturating_sub(body);
        let mut bytes = [0; 4096];
        while left > 0 {
            match stream.read(&mut bytes)? {
                0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                count => left = left.saturating_sub(count),
            }
        }
        Ok(())
    }
}

/// A thread that does the work of everybody, one after the other.
fn one_thread(work_us: u64) -> SyncSender<SyncSender<()>> {
    let (sender, jobs) = sync_channel::<SyncSender<()>>(MOST_JOBS);
    std::thread::spawn(move || {
        for done in jobs {
            spin(work_us);
            if done.send(()).is_err() {
                // Who asked is gone.
            }
        }
    });
    sender
}

/// Uses this much processor time: of the thread, so that it costs as much when others run too.
fn spin(micros: u64) {
    let used = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(
            u64::try_from(time.tv_sec).unwrap_or(0),
            u32::try_from(time.tv_nsec).unwrap_or(0),
        )
    };
    let end = used() + Duration::from_micros(micros);
    while micros > 0 && used() < end {
        std::hint::spin_loop();
    }
}

/// Reads up to the empty line: the head, and how many bytes came behind it. `None` at the end of the connection.
fn read_head(stream: &mut TcpStream) -> std::io::Result<Option<(String, usize)>> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let count = stream.read(&mut chunk)?;
        if count == 0 || bytes.len() > MOST_HEAD {
            return Ok(None);
        }
        bytes.extend_from_slice(&chunk[..count]);
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            return Ok(Some((head, bytes.len() - end - 4)));
        }
    }
}

fn content_length(head: &str) -> usize {
    let mut lines = head.lines().filter_map(|line| line.split_once(':'));
    let found = lines.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    found.map_or(0, |(_, value)| value.trim().parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        assert_eq!(content_length("HTTP/1.1 200 OK\r\ncontent-length: 12"), 12);
        assert_eq!(content_length("HTTP/1.1 200 OK"), 0);
    }
}
