//! Queues in front of `accept`. How many connections found one full, `/proc/<pid>/net/netstat` counts for the whole network namespace. How many
//! wait at each listener, and how many it dropped, says sock_diag(7) to who may enter the namespace; how many wait, `/proc/<pid>/net/tcp` and
//! `tcp6` to everybody.

use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{
    ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags,
};
use netlink_packet_sock_diag::{AF_INET, AF_INET6, IPPROTO_TCP, SockDiagMessage};
use rustix::net::netlink::SOCK_DIAG;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::os::fd::OwnedFd;
use std::time::Duration;

/// A namespace has few listening sockets; of more of a family of addresses the others are left out.
const MOST_LISTENERS: usize = 1024;
/// The length of a line of `tcp`. The kernel looks for lines until it has as many bytes as were asked for: who asks for more than one line at a
/// time has it walk through all connections after the last listener.
const LINE: usize = 150;
/// The kernel answers at once; a part of its answer is not longer.
const ANSWER_WITHIN: Duration = Duration::from_secs(1);
const ANSWER_BYTES: usize = 32 * 1024;

/// Connections that found an accept queue full since the namespace exists; `None` when the process is gone.
pub(super) fn overflows(pid: u32) -> Option<u64> {
    parse_overflows(&fs::read_to_string(format!("/proc/{pid}/net/netstat")).ok()?)
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

/// A listening socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Listener {
    pub(super) port: u16,
    /// Connections that wait to be accepted.
    pub(super) waiting: u64,
    /// `None` where only lines say that it listens.
    drops: Option<Drops>,
}

/// Connections for which a listener's queue had no place since it listens, and now and then something else that it dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Drops {
    /// The kernel gives each to one socket only.
    cookie: [u8; 8],
    /// It wraps.
    count: u32,
}

impl Listener {
    /// Its drops since `before`, or since it listens if it was not among those.
    pub(super) fn drops_since(&self, before: &[Self]) -> Option<u64> {
        let now = self.drops?;
        let mut then = before.iter().filter_map(|other| other.drops);
        let then = then.find(|then| then.cookie == now.cookie);
        let then = then.map_or(0, |then| then.count);
        Some(u64::from(now.count.wrapping_sub(then)))
    }
}

/// A socket to ask for the listeners of the network namespace in which it is opened.
///
/// # Errors
/// The system's.
pub(super) fn open() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC;
    let (family, kind) = (AddressFamily::NETLINK, SocketType::DGRAM);
    let socket = socket_with(family, kind, flags, Some(SOCK_DIAG))?;
    set_socket_timeout(&socket, Timeout::Recv, Some(ANSWER_WITHIN))?;
    Ok(socket)
}

/// All listeners.
///
/// # Errors
/// The system's: a kernel may have been built without the answer.
pub(super) fn listeners(socket: &OwnedFd) -> io::Result<Vec<Listener>> {
    let mut found = Vec::new();
    for id in [SocketId::new_v4(), SocketId::new_v6()] {
        ask(socket, id)?;
        collect(socket, found.len() + MOST_LISTENERS, &mut found)?;
    }
    Ok(found)
}

/// All listeners of the namespace of `pid`, without their drops.
pub(super) fn listed(pid: u32) -> Vec<Listener> {
    let files = ["tcp", "tcp6"].map(|file| File::open(format!("/proc/{pid}/net/{file}")));
    let of_file = |file: File| {
        // Listeners come first: of thousands of connections behind them only one is read.
        let lines = BufReader::with_capacity(LINE, file).lines();
        let lines = lines.map_while(Result::ok);
        let listening = lines.skip(1).take(MOST_LISTENERS);
        listening.map_while(|line| parse_listener(&line))
    };
    files.into_iter().flatten().flat_map(of_file).collect()
}

/// Port and queue of a line of proc_net_tcp(5) for a listening socket, whose receive queue is its accept queue; `None` for any other.
fn parse_listener(line: &str) -> Option<Listener> {
    let mut fields = line.split_ascii_whitespace().skip(1);
    let (_, port) = fields.next()?.rsplit_once(':')?;
    let state = fields.nth(1)?;
    let (_, waiting) = fields.next()?.split_once(':')?;
    (state == "0A").then_some(())?;
    Some(Listener {
        port: u16::from_str_radix(port, 16).ok()?,
        waiting: u64::from_str_radix(waiting, 16).ok()?,
        drops: None,
    })
}

/// Asks for all listeners of a family of addresses, `any` of it.
fn ask(socket: &OwnedFd, any: SocketId) -> io::Result<()> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let request = SockDiagMessage::InetRequest(InetRequest {
        family: match any.source_address.is_ipv4() {
            true => AF_INET,
            false => AF_INET6,
        },
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::SKMEMINFO,
        states: StateFlags::LISTEN,
        socket_id: any,
    });
    let mut message = NetlinkMessage::new(header, NetlinkPayload::from(request));
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    send(socket, &bytes, SendFlags::empty())?;
    Ok(())
}

/// Reads an answer to its end; what goes beyond so many listeners is left out.
fn collect(socket: &OwnedFd, most: usize, found: &mut Vec<Listener>) -> io::Result<()> {
    let mut buffer = vec![0; ANSWER_BYTES];
    loop {
        let (length, _) = recv(socket, &mut buffer[..], RecvFlags::empty())?;
        let mut rest = &buffer[..length];
        while !rest.is_empty() {
            let message = NetlinkMessage::<SockDiagMessage>::deserialize(rest)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            match message.payload {
                NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response)) => {
                    found.push(listener(&response));
                    found.truncate(most);
                }
                NetlinkPayload::Error(error) => return Err(error.to_io()),
                _ => return Ok(()),
            }
            // Messages begin at multiples of four.
            let used = (message.header.length as usize).next_multiple_of(4);
            rest = rest.get(used..).unwrap_or_default();
        }
    }
}

/// Of a listening socket, the receive queue is its accept queue.
fn listener(response: &InetResponse) -> Listener {
    let header = &response.header;
    let mut attributes = response.nlas.iter();
    let count = attributes.find_map(|attribute| match attribute {
        Nla::MemInfo(memory) => Some(memory.drops),
        _ => None,
    });
    Listener {
        port: header.socket_id.source_port,
        waiting: u64::from(header.recv_queue),
        drops: count.map(|count| Drops {
            cookie: header.socket_id.cookie,
            count,
        }),
    }
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
        let found = parse_listener(listening).map(|found| (found.port, found.waiting));
        assert_eq!(found, Some((43_371, 129)));
        let connected = "   2: 0100007F:A96B 0100007F:DC18 01 000000B2:00000000 01:00000014 00000000     0        0 4429428 3 0 20 4 1 18 -1";
        assert_eq!(parse_listener(connected), None);
    }

    #[test]
    fn drops_are_of_the_same_socket() {
        let of = |cookie, drops| Listener {
            port: 80,
            waiting: 0,
            drops: Some(Drops {
                cookie: [cookie; 8],
                count: drops,
            }),
        };
        let before = [of(1, u32::MAX), of(2, 5)];
        let after = [of(1, 2), of(2, 5), of(3, 4)];
        let drops = after.map(|now| now.drops_since(&before));
        assert_eq!(drops, [Some(3), Some(0), Some(4)]);
    }

    #[test]
    fn both_lists_have_a_listener() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let of_port = |found: Vec<Listener>| {
            let mut found = found.into_iter();
            found.find(|listener| listener.port == port)
        };
        let asked = of_port(listeners(&open().unwrap()).unwrap()).unwrap();
        assert!(asked.drops.is_some());
        let listed = of_port(listed(std::process::id()));
        assert_eq!(
            listed,
            Some(Listener {
                drops: None,
                ..asked
            })
        );
    }
}
