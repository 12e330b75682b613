//! Large bodies: an upstream that sends and swallows them, and clients that do the same at the other end of a proxy. Threads that move bytes of
//! memory, pinned to one processor; what arrives is counted where it arrives.

use crate::Error;
use crate::placement;
use crate::server::BODY;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

/// The length of a body.
const BODY_BYTES: u64 = 256 << 20;
/// The bytes that are written or read at a time.
const PIECE: usize = 256 << 10;
/// Bodies under way at a time.
const CLIENTS: usize = 4;
/// The path on which the upstream takes and gives large bodies.
const PATH: &str = "/large";

/// Which way bodies go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From the upstream to clients.
    Down,
    /// From clients to the upstream.
    Up,
}

impl Way {
    /// Its name in notes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Down => "to clients",
            Self::Up => "from clients",
        }
    }
}

/// The upstream.
pub struct Origin {
    address: SocketAddr,
    swallowed: Arc<AtomicU64>,
    stopping: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Origin {
    /// Starts it on one processor.
    pub fn start(cpu: usize) -> Result<Self, Error> {
        let failed = || Error::when("starting an upstream for large bodies");
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(failed())?;
        let address = listener.local_addr().map_err(failed())?;
        let swallowed = Arc::new(AtomicU64::new(0));
        let stopping = Arc::new(AtomicBool::new(false));
        let (count, stop) = (Arc::clone(&swallowed), Arc::clone(&stopping));
        // A thread has the processors of the one that starts it.
        let accepting = placement::on(cpu.into(), || {
            Ok(std::thread::spawn(move || {
                for stream in listener.incoming() {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let count = Arc::clone(&count);
                    if let Ok(stream) = stream {
                        // Ends with its connection, which the proxy's end closes.
                        std::thread::spawn(move || serve(&stream, &count).unwrap_or_default());
                    }
                }
            }))
        })?;
        Ok(Self {
            address,
            swallowed,
            stopping,
            accepting: Some(accepting),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::Relaxed);
        // Wakes who waits for the next connection.
        let woken = TcpStream::connect(self.address);
        if let (Ok(_), Some(accepting)) = (woken, self.accepting.take())
            && accepting.join().is_err()
        {
            // A panic has told where it happened.
        }
    }
}

/// Serves a connection: a GET of [`PATH`] gets a body, one that is sent is swallowed, everything else gets [`BODY`].
fn serve(mut stream: &TcpStream, swallowed: &AtomicU64) -> io::Result<()> {
    let mut buffer = vec![0; PIECE];
    let mut begun: Vec<u8> = Vec::new();
    loop {
        let Some((head, behind)) = head(&mut stream, std::mem::take(&mut begun), &mut buffer)?
        else {
            return Ok(());
        };
        let length = content_length(&head);
        let here = behind
            .len()
            .min(usize::try_from(length).unwrap_or(usize::MAX));
        swallowed.fetch_add(here as u64, Ordering::Relaxed);
        swallow(&mut stream, length - here as u64, &mut buffer, swallowed)?;
        begun = behind[here..].to_vec();
        let large = head.starts_with("GET ") && head.contains(PATH);
        let small = BODY.replace("\\n", "\n");
        let sent = if large {
            BODY_BYTES
        } else {
            small.len() as u64
        };
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {sent}\r\n\r\n")?;
        match large {
            true => pour(&mut stream)?,
            false => stream.write_all(small.as_bytes())?,
        }
    }
}

/// The next head and what came behind it; `None` at the end of the connection.
fn head(
    stream: &mut impl Read,
    mut begun: Vec<u8>,
    buffer: &mut [u8],
) -> io::Result<Option<(String, Vec<u8>)>> {
    loop {
        if let Some(end) = begun.windows(4).position(|window| window == b"\r\n\r\n") {
            let behind = begun.split_off(end + 4);
            let head = String::from_utf8_lossy(&begun).into_owned();
            return Ok(Some((head, behind)));
        }
        match stream.read(buffer)? {
            0 => return Ok(None),
            read => begun.extend_from_slice(&buffer[..read]),
        }
    }
}

fn content_length(head: &str) -> u64 {
    let mut fields = head.lines().filter_map(|line| line.split_once(':'));
    let length = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    length.map_or(0, |(_, value)| value.trim().parse().unwrap_or(0))
}

fn swallow(
    stream: &mut impl Read,
    mut left: u64,
    buffer: &mut [u8],
    count: &AtomicU64,
) -> io::Result<()> {
    while left > 0 {
        let most = buffer
            .len()
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        match stream.read(&mut buffer[..most])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                left -= read as u64;
                count.fetch_add(read as u64, Ordering::Relaxed);
            }
        }
    }
    Ok(())
}

fn pour(stream: &mut impl Write) -> io::Result<()> {
    let piece = [0; PIECE];
    for _ in 0..BODY_BYTES / PIECE as u64 {
        stream.write_all(&piece)?;
    }
    Ok(())
}

/// Clients that move one body after the other.
pub struct Traffic {
    received: Arc<AtomicU64>,
    way: Way,
    streams: Vec<TcpStream>,
    clients: Vec<JoinHandle<io::Result<()>>>,
    stopping: Arc<AtomicBool>,
}

impl Traffic {
    /// Starts them on one processor, each on a connection of its own.
    pub fn start(cpu: usize, proxy: SocketAddr, way: Way) -> Result<Self, Error> {
        let received = Arc::new(AtomicU64::new(0));
        let stopping = Arc::new(AtomicBool::new(false));
        let mut traffic = Self {
            received: Arc::clone(&received),
            way,
            streams: Vec::new(),
            clients: Vec::new(),
            stopping: Arc::clone(&stopping),
        };
        placement::on(cpu.into(), || {
            for _ in 0..CLIENTS {
                let failed = || Error::when("connecting a client of large bodies");
                let stream = TcpStream::connect(proxy).map_err(failed())?;
                let own = stream.try_clone().map_err(failed())?;
                traffic.streams.push(stream);
                let (count, stop) = (Arc::clone(&received), Arc::clone(&stopping));
                traffic.clients.push(std::thread::spawn(move || {
                    let ended = ask(&own, way, &count);
                    match stop.load(Ordering::Relaxed) {
                        true => Ok(()),
                        false => ended,
                    }
                }));
            }
            Ok(())
        })?;
        Ok(traffic)
    }

    /// Bytes of bodies that have arrived at their end.
    pub fn bytes(&self, origin: &Origin) -> u64 {
        let count = match self.way {
            Way::Down => &self.received,
            Way::Up => &origin.swallowed,
        };
        count.load(Ordering::Relaxed)
    }

    /// Ends their connections; that one broke before is an error.
    pub fn stop(self) -> Result<(), Error> {
        self.stopping.store(true, Ordering::Relaxed);
        for stream in &self.streams {
            if stream.shutdown(Shutdown::Both).is_err() {
                // It is over already, and its client says why.
            }
        }
        for client in self.clients {
            let ended = client.join().unwrap_or(Ok(()));
            ended.map_err(Error::when("moving a large body"))?;
        }
        Ok(())
    }
}

/// Moves bodies until the connection ends. By hand, for the clients share a processor with the upstream and must cost little beside the proxy.
fn ask(mut stream: &TcpStream, way: Way, received: &AtomicU64) -> io::Result<()> {
    let mut buffer = vec![0; PIECE];
    let uncounted = AtomicU64::new(0);
    loop {
        match way {
            Way::Down => write!(stream, "GET {PATH} HTTP/1.1\r\nHost: a\r\n\r\n")?,
            Way::Up => {
                write!(
                    stream,
                    "PUT {PATH} HTTP/1.1\r\nHost: a\r\nContent-Length: {BODY_BYTES}\r\n\r\n"
                )?;
                pour(&mut stream)?;
            }
        }
        let Some((head, behind)) = head(&mut stream, Vec::new(), &mut buffer)? else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        if !head.starts_with("HTTP/1.1 200") {
            return Err(io::Error::other(format!("answered `{head}`")));
        }
        let count = if way == Way::Down {
            received
        } else {
            &uncounted
        };
        count.fetch_add(behind.len() as u64, Ordering::Relaxed);
        let left = content_length(&head) - behind.len() as u64;
        swallow(&mut stream, left, &mut buffer, count)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a proxy, clients and upstream move bodies, and say that one broke off.
    #[test]
    fn bodies_move_both_ways() {
        let cpu = placement::Placement::of_this_host().unwrap().clients;
        for way in [Way::Down, Way::Up] {
            let origin = Origin::start(cpu).unwrap();
            let traffic = Traffic::start(cpu, origin.address(), way).unwrap();
            while traffic.bytes(&origin) < 2 * PIECE as u64 {
                std::thread::yield_now();
            }
            traffic.stop().unwrap();
        }
    }
}
