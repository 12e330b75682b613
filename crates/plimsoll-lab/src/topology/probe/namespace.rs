//! Counters of a whole network namespace: read once for all components in it.

use super::listen_queue::Family;
use super::segments::Segments;
use super::{conntrack, listen_queue, ports};
use std::cell::OnceCell;
use std::fs;
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
    /// Ports that are listened on, with the connections that wait there, once somebody asks.
    listeners: OnceCell<Vec<(u16, u64)>>,
    /// Listening ports of IPv6, of which few are, so that the kernel looks through all connections for the next: only where IPv4 has none.
    listeners_v6: OnceCell<Vec<(u16, u64)>>,
}

impl Reading {
    pub(super) fn take(pid: u32) -> Self {
        Self {
            overflows: listen_queue::overflows(pid),
            segments: Segments::read(pid),
            drops: conntrack::drops(pid),
            taken: ports::taken(pid),
            pid,
            listeners: OnceCell::new(),
            listeners_v6: OnceCell::new(),
        }
    }

    /// The most connections that wait at a listener on one of these ports; `None` where none listens.
    pub(super) fn longest_queue(&self, wanted: &[u16]) -> Option<u64> {
        if wanted.is_empty() {
            return None;
        }
        let longest = |listeners: &[(u16, u64)]| {
            let of_ports = listeners.iter().filter(|(port, _)| wanted.contains(port));
            of_ports.map(|(_, waiting)| *waiting).max()
        };
        let read = |family| listen_queue::listeners(self.pid, family);
        let v4 = self.listeners.get_or_init(|| read(Family::V4));
        longest(v4).or_else(|| longest(self.listeners_v6.get_or_init(|| read(Family::V6))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_connection_that_nobody_accepts_waits() {
        for host in ["127.0.0.1:0", "[::1]:0"] {
            // A host may have no IPv6.
            let Ok(listener) = TcpListener::bind(host) else {
                continue;
            };
            let address = listener.local_addr().unwrap();
            let ports = [address.port()];
            let longest = || Reading::take(std::process::id()).longest_queue(&ports);
            assert_eq!(longest(), Some(0), "{host}");
            let waiting = TcpStream::connect(address).unwrap();
            assert_eq!(longest(), Some(1), "{host}");
            drop(waiting);
        }
        let reading = Reading::take(std::process::id());
        assert_eq!(
            (reading.longest_queue(&[]), reading.longest_queue(&[1])),
            (None, None)
        );
    }

    #[test]
    fn this_process_is_in_one() {
        let pid = std::process::id();
        assert!(of(pid).is_some());
        let reading = Reading::take(pid);
        assert!(reading.overflows.is_some() && reading.segments.is_some());
    }
}
