//! Listening sockets of a network namespace, with what waits at each and what it dropped, by sock_diag(7).

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
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// A namespace has few listening sockets; of more of a family of addresses the others are left out.
const MOST_LISTENERS: usize = 1024;
/// The kernel answers at once.
const ANSWER_WITHIN: Duration = Duration::from_secs(1);
/// No part of its answer is longer.
const ANSWER_BYTES: usize = 32 * 1024;

/// A listening socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Listener {
    pub(super) port: u16,
    /// Connections that wait to be accepted.
    pub(super) waiting: u64,
    /// The kernel gives each to one socket only.
    cookie: [u8; 8],
    /// Connections for which its queue had no place since it listens, and now and then something else that it dropped. It wraps.
    drops: u32,
}

impl Listener {
    /// Its drops since `before`, or since it listens if it was not among those.
    pub(super) fn drops_since(&self, before: &[Self]) -> u64 {
        let same = |other: &&Self| other.cookie == self.cookie;
        let then = before.iter().find(same).map_or(0, |then| then.drops);
        u64::from(self.drops.wrapping_sub(then))
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
/// The system's, and [`io::ErrorKind::InvalidData`] for an answer without what is asked for: a kernel may be too old or built without it.
pub(super) fn listeners(socket: &OwnedFd) -> io::Result<Vec<Listener>> {
    let mut found = Vec::new();
    let mut buffer = vec![0; ANSWER_BYTES];
    for (family, any) in [
        (AF_INET, SocketId::new_v4()),
        (AF_INET6, SocketId::new_v6()),
    ] {
        ask(socket, family, any)?;
        collect(
            socket,
            &mut buffer,
            found.len() + MOST_LISTENERS,
            &mut found,
        )?;
    }
    Ok(found)
}

/// Asks for all listeners of a family of addresses.
fn ask(socket: &OwnedFd, family: u8, any: SocketId) -> io::Result<()> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let request = SockDiagMessage::InetRequest(InetRequest {
        family,
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

/// Reads an answer to its end. No more than `most` are kept.
fn collect(
    socket: &OwnedFd,
    buffer: &mut [u8],
    most: usize,
    found: &mut Vec<Listener>,
) -> io::Result<()> {
    loop {
        let (length, _) = recv(socket, &mut *buffer, RecvFlags::empty())?;
        let mut rest = &buffer[..length];
        while !rest.is_empty() {
            let message = NetlinkMessage::<SockDiagMessage>::deserialize(rest)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            match message.payload {
                NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response)) => {
                    if found.len() < most {
                        found.push(listener(&response)?);
                    }
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
fn listener(response: &InetResponse) -> io::Result<Listener> {
    let header = &response.header;
    let mut attributes = response.nlas.iter();
    let drops = attributes.find_map(|attribute| match attribute {
        Nla::MemInfo(memory) => Some(memory.drops),
        _ => None,
    });
    Ok(Listener {
        port: header.socket_id.source_port,
        waiting: u64::from(header.recv_queue),
        cookie: header.socket_id.cookie,
        drops: drops.ok_or(io::ErrorKind::InvalidData)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_of_the_same_socket() {
        let of = |cookie, drops| Listener {
            port: 80,
            waiting: 0,
            cookie: [cookie; 8],
            drops,
        };
        let before = [of(1, u32::MAX), of(2, 5)];
        let after = [of(1, 2), of(2, 5), of(3, 4)];
        assert_eq!(after.map(|now| now.drops_since(&before)), [3, 0, 4]);
    }
}
