//! Shared by the programs of this package: an echo server, exchanges with it through a proxy, and what each toxic must do to them.
//! How a toxic is set is each program's own, in the words of its client.

use std::fmt::Debug;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(10);

pub type Checked = Result<(), String>;

#[derive(Default)]
pub struct Checks {
    failures: usize,
}

impl Checks {
    pub fn check(&mut self, name: &str, result: Checked) {
        match result {
            Ok(()) => println!("ok {name}"),
            Err(reason) => {
                self.failures += 1;
                println!("FAILED {name}: {reason:.300}");
            }
        }
    }

    pub fn exit(self) -> ! {
        std::process::exit(i32::from(self.failures > 0))
    }
}

pub fn expect(condition: bool, seen: impl Debug) -> Checked {
    if condition {
        Ok(())
    } else {
        Err(format!("saw {seen:?}"))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stream {
    Upstream,
    Downstream,
}

#[derive(Debug, PartialEq)]
pub enum End {
    Open,
    Closed,
    Refused,
    Reset,
}

/// A client's view of an exchange, timed from before it connected.
#[derive(Debug)]
pub struct Outcome {
    pub data: String,
    pub elapsed: Duration,
    pub end: End,
}

/// Sends and reads until `expected` bytes are there.
pub fn exchange(listen: &str, sent: &str, expected: usize) -> Outcome {
    converse(
        listen,
        |mut connection| connection.write_all(sent.as_bytes()),
        expected,
    )
}

/// Sends and reads to the end.
pub fn exchange_to_end(listen: &str, sent: &str) -> Outcome {
    exchange(listen, sent, usize::MAX)
}

/// Sends, closes its half, and reads to the end.
pub fn exchange_and_finish(listen: &str, sent: &str) -> Outcome {
    converse(
        listen,
        |mut connection| {
            connection
                .write_all(sent.as_bytes())
                .and_then(|()| connection.shutdown(Shutdown::Write))
        },
        usize::MAX,
    )
}

fn converse(
    listen: &str,
    send: impl FnOnce(&TcpStream) -> std::io::Result<()>,
    expected: usize,
) -> Outcome {
    let start = Instant::now();
    let mut data = Vec::new();
    let read = || -> std::io::Result<End> {
        let mut connection = TcpStream::connect(listen)?;
        connection.set_read_timeout(Some(PATIENCE))?;
        send(&connection)?;
        let mut piece = [0; 65536];
        while data.len() < expected {
            match connection.read(&mut piece)? {
                0 => return Ok(End::Closed),
                length => data.extend_from_slice(&piece[..length]),
            }
        }
        Ok(End::Open)
    };
    let end = read().unwrap_or_else(|error| match error.kind() {
        ErrorKind::ConnectionRefused => End::Refused,
        ErrorKind::ConnectionReset => End::Reset,
        _ => End::Open,
    });
    Outcome {
        data: String::from_utf8_lossy(&data).into_owned(),
        elapsed: start.elapsed(),
        end,
    }
}

/// A server on an ephemeral port that sends back what it gets.
pub struct Echo {
    pub address: SocketAddr,
    ended: Receiver<String>,
}

impl Echo {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (sender, ended) = channel();
        thread::spawn(move || {
            for connection in listener.incoming() {
                let sender = sender.clone();
                thread::spawn(move || serve(connection.expect("a connection"), &sender));
            }
        });
        Self { address, ended }
    }

    /// Bytes of the next ended connection that began with `first`; others may end late.
    pub fn received_from(&self, first: &str) -> Result<String, String> {
        loop {
            let received = self
                .ended
                .recv_timeout(PATIENCE)
                .map_err(|_| format!("no connection began with {first}"))?;
            if received.starts_with(first) {
                return Ok(received);
            }
        }
    }
}

fn serve(mut connection: TcpStream, ended: &Sender<String>) {
    let mut received = Vec::new();
    let mut piece = [0; 65536];
    while let Ok(length @ 1..) = connection.read(&mut piece) {
        received.extend_from_slice(&piece[..length]);
        if connection.write_all(&piece[..length]).is_err() {
            break;
        }
    }
    drop(connection);
    ended
        .send(String::from_utf8_lossy(&received).into_owned())
        .ok();
}

pub fn passes(listen: &str) -> Checked {
    let seen = exchange(listen, "through", 7);
    expect(seen.data == "through", seen)
}

pub fn refuses(listen: &str) -> Checked {
    let seen = exchange_to_end(listen, "");
    expect(seen.end == End::Refused, seen)
}

pub fn is_late_by_100_ms(listen: &str) -> Checked {
    let seen = exchange(listen, "late", 4);
    expect(
        seen.data == "late" && seen.elapsed >= Duration::from_millis(100),
        seen,
    )
}

pub fn passes_20_bytes_per_ms(listen: &str) -> Checked {
    let seen = exchange(listen, &"b".repeat(4000), 4000);
    expect(
        seen.data.len() == 4000 && seen.elapsed >= Duration::from_millis(200),
        seen,
    )
}

pub fn closes_late_by_200_ms(listen: &str) -> Checked {
    let seen = exchange_and_finish(listen, "");
    expect(
        seen.end == End::Closed && seen.elapsed >= Duration::from_millis(200),
        seen,
    )
}

pub fn is_silent_for_200_ms_and_closes(listen: &str) -> Checked {
    let seen = exchange_to_end(listen, "lost");
    let closed = matches!(seen.end, End::Closed | End::Reset);
    expect(
        seen.data.is_empty() && closed && seen.elapsed >= Duration::from_millis(200),
        seen,
    )
}

/// 1000 bytes in pieces of at most 100 are at least ten pieces, hence nine delays.
pub fn slices_at_100_bytes_and_10_ms(listen: &str) -> Checked {
    let sent = "0123456789".repeat(100);
    let seen = exchange(listen, &sent, 1000);
    expect(
        seen.data == sent && seen.elapsed >= Duration::from_millis(90),
        seen,
    )
}

pub fn ends_after_10_bytes(listen: &str, echo: &Echo, stream: Stream) -> Checked {
    let seen = exchange_to_end(listen, &format!("limit of data in {stream:?}"));
    let received = echo.received_from("limit")?;
    let passed = if stream == Stream::Upstream {
        &received
    } else {
        &seen.data
    };
    expect(
        passed == "limit of d" && matches!(seen.end, End::Closed | End::Reset),
        (&received, &seen),
    )
}
