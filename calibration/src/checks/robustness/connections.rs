//! Many connections at once, all opened by one thread.

use super::Attack;
use crate::bench::Error;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};

/// Connections that are open and do nothing.
pub struct Held {
    streams: Vec<TcpStream>,
}

impl Held {
    /// Opens so many, one after another.
    pub fn open(address: SocketAddr, count: usize) -> Result<Self, Error> {
        let streams = (0..count).map(|_| TcpStream::connect(address));
        Ok(Self {
            streams: streams
                .collect::<Result<_, _>>()
                .map_err(|e| Error::at_server("opening many connections", e))?,
        })
    }

    /// The connections.
    pub fn streams(&mut self) -> &mut [TcpStream] {
        &mut self.streams
    }
}

impl Attack for Held {
    fn end(self: Box<Self>) -> Result<String, Error> {
        let count = self.streams.len();
        let open = self.streams.iter().filter(|stream| is_open(stream)).count();
        if open < count {
            let words = format!("{open} of {count} connections still open at the end");
            return Err(Error::Measured(words));
        }
        Ok(format!("{count} connections still open at the end"))
    }
}

/// Whether the server has neither ended a connection nor said anything on it.
fn is_open(stream: &TcpStream) -> bool {
    let peeked = stream
        .set_nonblocking(true)
        .and_then(|()| stream.peek(&mut [0]));
    peeked.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::net::{Ipv4Addr, TcpListener};

    #[test]
    fn connections_that_are_held_must_be_open_at_the_end() {
        let check = |serve: fn(&mut TcpStream), expected: bool| {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let held = Held::open(listener.local_addr().unwrap(), 2).unwrap();
            let mut accepted = [(); 2].map(|()| listener.accept().unwrap().0);
            serve(&mut accepted[1]);
            // What the server does reaches the other end of loopback before its call returns.
            assert_eq!(Box::new(held).end().is_ok(), expected);
        };
        check(|_| {}, true);
        check(|stream| stream.write_all(b"HTTP/1.1 408").unwrap(), false);
        check(
            |stream| stream.shutdown(std::net::Shutdown::Both).unwrap(),
            false,
        );
    }
}
