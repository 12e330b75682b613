//! Counters of a whole network namespace: read once for all components in it.

use super::segments::Segments;
use super::sock_diag::{self, Listener};
use super::{conntrack, listen_queue, ports};
use crate::topology::namespace::NetworkNamespace;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;

/// A namespace's identity; `None` where the process may not be looked at so closely.
pub(super) fn of(pid: u32) -> Option<u64> {
    let namespace = fs::metadata(format!("/proc/{pid}/ns/net")).ok()?;
    Some(namespace.ino())
}

/// One reading, through any process in it.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    /// Connections that found an accept queue full.
    pub(super) overflows: Option<u64>,
    pub(super) segments: Option<Segments>,
    /// Packets that the connection tracker dropped.
    pub(super) drops: Option<u64>,
    /// Connections that hold a port.
    pub(super) taken: Option<u64>,
    /// Through which process.
    pid: u32,
    /// `None` where the kernel does not name them, or not to us.
    listeners: Option<Vec<Listener>>,
}

impl Reading {
    pub(super) fn take(pid: u32) -> Self {
        Self {
            overflows: listen_queue::overflows(pid),
            segments: Segments::read(pid),
            drops: conntrack::drops(pid),
            taken: ports::taken(pid),
            pid,
            listeners: listeners(pid).ok(),
        }
    }

    /// The most connections that wait at a listener on one of these ports; `None` where none listens.
    pub(super) fn longest_queue(&self, wanted: &[u16]) -> Option<u64> {
        let Some(listeners) = &self.listeners else {
            return listen_queue::longest(self.pid, wanted);
        };
        let waiting = on(wanted, listeners).map(|listener| listener.waiting);
        waiting.max()
    }

    /// Connections that listeners on these ports dropped since the reading `before`, for their queues were full; `None` where none listens
    /// or they were not named both times.
    pub(super) fn drops_since(&self, before: &Self, wanted: &[u16]) -> Option<u64> {
        let (now, then) = (self.listeners.as_deref()?, before.listeners.as_deref()?);
        let drops = on(wanted, now).map(|listener| listener.drops_since(then));
        let drops = drops.reduce(|a, b| a + b)?;
        // Now and then they drop something else.
        let all = self.overflows.zip(before.overflows);
        Some(all.map_or(drops, |(now, then)| drops.min(now.saturating_sub(then))))
    }
}

fn on<'a>(ports: &'a [u16], listeners: &'a [Listener]) -> impl Iterator<Item = &'a Listener> {
    let wanted = |listener: &&Listener| ports.contains(&listener.port);
    listeners.iter().filter(wanted)
}

/// Listeners in the namespace of a process. To enter another's needs a right, and not every kernel answers.
fn listeners(pid: u32) -> io::Result<Vec<Listener>> {
    let own = of(std::process::id());
    let socket = match own.is_some() && of(pid) == own {
        true => sock_diag::open(),
        false => NetworkNamespace::of(pid)?.briefly_inside(sock_diag::open),
    };
    sock_diag::listeners(&socket?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SocketType, bind, getsockname, listen, socket};
    use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
    use std::time::Duration;

    #[test]
    fn a_connection_that_nobody_accepts_waits() {
        for host in ["127.0.0.1:0", "[::1]:0"] {
            // A host may have no IPv6.
            let Ok(listener) = TcpListener::bind(host) else {
                continue;
            };
            let address = listener.local_addr().unwrap();
            let ports = [address.port()];
            let longest = || {
                let reading = Reading::take(std::process::id());
                // One who is not told the listeners.
                let untold = Reading {
                    listeners: None,
                    ..reading.clone()
                };
                [reading, untold].map(|reading| reading.longest_queue(&ports))
            };
            assert_eq!(longest(), [Some(0); 2], "{host}");
            let waiting = TcpStream::connect(address).unwrap();
            assert_eq!(longest(), [Some(1); 2], "{host}");
            drop(waiting);
        }
        let reading = Reading::take(std::process::id());
        assert_eq!(
            (reading.longest_queue(&[]), reading.longest_queue(&[1])),
            (None, None)
        );
    }

    #[test]
    fn a_listener_drops_what_its_queue_has_no_place_for() {
        let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
        let listener = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&listener, &address).unwrap();
        listen(&listener, 1).unwrap();
        let address = SocketAddr::try_from(getsockname(&listener).unwrap()).unwrap();
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let read = || Reading::take(std::process::id());
        let before = read();
        // One more than its backlog finds a place.
        let _placed = [(); 2].map(|()| TcpStream::connect(address).unwrap());
        let full = TcpStream::connect_timeout(&address, Duration::from_millis(50));
        assert_eq!(full.unwrap_err().kind(), io::ErrorKind::TimedOut);
        let drops = |port| read().drops_since(&before, &[port]);
        assert!(drops(address.port()) >= Some(1));
        assert_eq!(drops(other.local_addr().unwrap().port()), Some(0));
        assert_eq!(drops(1), None);
        let untold = Reading {
            listeners: None,
            ..read()
        };
        assert_eq!(read().drops_since(&untold, &[address.port()]), None);
    }

    #[test]
    fn this_process_is_in_one() {
        let pid = std::process::id();
        assert!(of(pid).is_some());
        let reading = Reading::take(pid);
        assert!(reading.overflows.is_some() && reading.segments.is_some());
    }
}
