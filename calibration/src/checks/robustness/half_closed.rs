//! Clients send a request, say that they have nothing more to say, and want their answer all the same.

use super::server::Patience;
use super::{Attack, Case, Told, When};
use crate::bench::Error;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

const CLIENTS: usize = 1_000;

pub const CASE: Case = Case {
    what: "1,000 clients that close their side after the request",
    growth_mib: 8.0,
    may_fail: 0.0,
    when: When::Before,
    patience: Patience::Short,
    begin: |_, server| {
        let address = server.address;
        let thread = std::thread::spawn(move || {
            let answered = (0..CLIENTS).map(|_| half_closed(address));
            answered.sum::<std::io::Result<usize>>()
        });
        Ok(Box::new(HalfClosed { thread }))
    },
    told: Told::Seen("every client answered"),
};

struct HalfClosed {
    thread: JoinHandle<std::io::Result<usize>>,
}

impl Attack for HalfClosed {
    fn end(self: Box<Self>) -> Result<String, Error> {
        let answered = self.thread.join();
        let answered = answered.map_err(|_| Error::Measured("the attack panicked".to_owned()))?;
        let count = answered.map_err(|e| Error::at_server("asking and closing", e))?;
        if count < CLIENTS {
            let words = format!("{count} of {CLIENTS} half-closed clients answered");
            return Err(Error::Measured(words));
        }
        Ok(format!("{count} answered"))
    }
}

/// One request on a connection of its own: 1 if it is answered in full, and then closed.
fn half_closed(address: SocketAddr) -> std::io::Result<usize> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.write_all(b"GET /delay/1ms HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
    stream.shutdown(Shutdown::Write)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(usize::from(answer.starts_with(b"HTTP/1.1 200")))
}
