//! A target that behaves badly, always in the same manner.

use super::{Acceptor, next_request};
use crate::bench::Error;
use crate::clock;
use socket2::SockRef;
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How it is bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Begins a body and resets.
    ResetsInBody,
    /// Reads and says nothing.
    Mute,
    /// Closes when the request is there.
    Closes,
    /// Answers in another language.
    Garbage,
    /// Sends a byte of its body now and then.
    Drips,
}

/// How often it drips.
const DRIP: Duration = Duration::from_millis(20);
/// The head of an answer that is never finished.
const BEGUN: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nx";

/// The running target.
pub struct Misbehaving {
    acceptor: Acceptor,
}

impl Misbehaving {
    /// Starts it.
    pub fn start(manner: Manner) -> Result<Self, Error> {
        let acceptor = Acceptor::start(move |stream, stop| {
            if serve(stream, stop, manner).is_err() {
                // The client is gone: it did not wait for the end.
            }
        })?;
        Ok(Self { acceptor })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.acceptor.address
    }
}

fn serve(mut stream: TcpStream, stop: &AtomicBool, manner: Manner) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    while next_request(&mut stream, stop) {
        match manner {
            Manner::ResetsInBody => {
                stream.write_all(BEGUN)?;
                // Closing with nothing to linger for sends a reset.
                return SockRef::from(&stream).set_linger(Some(Duration::ZERO));
            }
            Manner::Mute => {}
            Manner::Closes => return Ok(()),
            Manner::Garbage => return stream.write_all(b"220 mail.example ESMTP\r\n\r\n"),
            Manner::Drips => {
                stream.write_all(BEGUN)?;
                while !stop.load(Ordering::Relaxed) {
                    clock::sleep(DRIP);
                    stream.write_all(b"x")?;
                }
            }
        }
    }
    Ok(())
}
