//! Queues in front of `accept`, as `/proc/<pid>/net` shows them to everybody.

use crate::kernel_file;
use std::fs::File;
use std::io::{BufRead as _, BufReader};

/// The length of a line of `tcp`. The kernel looks for lines until it has as many bytes as were asked for: who asks for more than one line at a
/// time has it walk through all connections after the last listener.
const LINE: usize = 150;
/// A namespace has few listening sockets; more are not looked at.
const MOST_LISTENERS: usize = 1024;

/// Connections that found an accept queue full since the namespace exists; `None` when the process is gone.
pub(super) fn overflows(pid: u32) -> Option<u64> {
    parse_overflows(&kernel_file::read(format!("/proc/{pid}/net/netstat")).ok()?)
}

/// Two lines per group of counters: names, and values in the same order.
fn parse_overflows(netstat: &str) -> Option<u64> {
    let mut lines = netstat
        .lines()
        .filter_map(|line| line.strip_prefix("TcpExt: "));
    let (names, values) = (lines.next()?, lines.next()?);
    let mut pairs = names.split(' ').zip(values.split(' '));
    let (_, value) = pairs.find(|(name, _)| *name == "ListenOverflows")?;
    value.parse().ok()
}

/// The most connections that wait at a listener on one of these ports in the namespace of `pid`; `None` where none listens. Of IPv6 few listen, so
/// that the kernel looks through all connections for the next: it is asked only where IPv4 has none.
pub(super) fn longest(pid: u32, ports: &[u16]) -> Option<u64> {
    if ports.is_empty() {
        return None;
    }
    let longest = |file: &str| {
        let waiting = listeners(pid, file).filter(|(port, _)| ports.contains(port));
        waiting.map(|(_, waiting)| waiting).max()
    };
    longest("tcp").or_else(|| longest("tcp6"))
}

/// Ports that are listened on, with the connections that wait there.
fn listeners(pid: u32, file: &str) -> impl Iterator<Item = (u16, u64)> {
    let file = File::open(format!("/proc/{pid}/net/{file}")).ok();
    // Listeners come first: of thousands of connections behind them only one is read.
    let lines = file.map(|file| BufReader::with_capacity(LINE, file).lines());
    let lines = lines.into_iter().flatten().map_while(Result::ok);
    let listening = lines.skip(1).take(MOST_LISTENERS);
    listening.map_while(|line| listener(&line))
}

/// Port and queue of a line of proc_net_tcp(5) for a listening socket, whose receive queue is its accept queue; `None` for any other.
fn listener(line: &str) -> Option<(u16, u64)> {
    let mut fields = line.split_ascii_whitespace().skip(1);
    let (_, port) = fields.next()?.rsplit_once(':')?;
    let state = fields.nth(1)?;
    let (_, waiting) = fields.next()?.split_once(':')?;
    let listening = state == "0A";
    listening
        .then(|| {
            Some((
                u16::from_str_radix(port, 16).ok()?,
                u64::from_str_radix(waiting, 16).ok()?,
            ))
        })
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_text() {
        let text = "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 0 12 13\nIpExt: InNoRoutes\nIpExt: 0\n";
        assert_eq!(parse_overflows(text), Some(12));
        assert_eq!(parse_overflows("IpExt: a\nIpExt: 1\n"), None);
        let listening = "   1: 0100007F:A96B 00000000:0000 0A 00000000:00000081 00:00000000 00000000     0        0 4429384 1 0 100 0 0 10 0";
        assert_eq!(listener(listening), Some((43_371, 129)));
        let connected = "   2: 0100007F:A96B 0100007F:DC18 01 000000B2:00000000 01:00000014 00000000     0        0 4429428 3 0 20 4 1 18 -1";
        assert_eq!(listener(connected), None);
    }
}
