//! Messages between a gateway and its successor, over a pair of sockets, each with at most one listening socket in it.
//!
//! ```text
//! predecessor --Socket (its name, and the socket itself)…, Complete--> successor
//! predecessor <--Ready------------------------------------------------ successor     (set up, and it has not touched a client)
//! predecessor --Yours------------------------------------------------> successor     (which serves from now on)
//! predecessor <--Serving---------------------------------------------- successor     (and has said so to whoever keeps track of it)
//! ```
//!
//! The successor finds its end as standard input, so that nothing else is inherited and no descriptor is known by its number.

use plimsoll_gateway::Socket;
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use serde_json::{Value, json};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

/// Bytes of a message: a listener's name is the longest part.
const MESSAGE: usize = 16 * 1024;
/// How long a message may take to be sent; the other end reads at once.
const SENDING: Duration = Duration::from_secs(10);

/// One end.
#[derive(Debug)]
pub struct Channel(OwnedFd);

/// A message.
#[derive(Debug)]
pub enum Message {
    /// A socket that listens.
    Socket(Socket),
    /// There are no more.
    Complete,
    /// The successor is set up.
    Ready,
    /// It serves from now on.
    Yours,
    /// It does, and whoever keeps track of the process knows.
    Serving,
}

impl Channel {
    /// Two ends that hear each other.
    pub fn pair() -> io::Result<(Self, OwnedFd)> {
        let kind = SocketType::SEQPACKET;
        let (one, other) = socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)?;
        Ok((Self::of(one)?, other))
    }

    /// This end.
    pub fn of(end: OwnedFd) -> io::Result<Self> {
        set_socket_timeout(&end, Timeout::Send, Some(SENDING))?;
        Ok(Self(end))
    }

    /// Says something; a socket is still open here afterwards, until it is dropped.
    pub fn say(&self, message: &Message) -> io::Result<()> {
        let (text, socket) = match message {
            Message::Socket(socket) => {
                let place = json!({ "name": socket.name, "address": socket.address.to_string() });
                (json!({ "socket": place }), Some(socket.socket.as_fd()))
            }
            Message::Complete => (json!("complete"), None),
            Message::Ready => (json!("ready"), None),
            Message::Yours => (json!("yours"), None),
            Message::Serving => (json!("serving"), None),
        };
        let text = text.to_string();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut rights = SendAncillaryBuffer::new(&mut space);
        let sockets = socket.as_slice();
        if !sockets.is_empty() && !rights.push(SendAncillaryMessage::ScmRights(sockets)) {
            return Err(io::Error::other("there is no room for a descriptor"));
        }
        let text = [IoSlice::new(text.as_bytes())];
        sendmsg(&self.0, &text, &mut rights, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// The other end's next message; `None` when it has gone.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] after so long, if a time is given.
    pub fn hear(&self, within: Option<Duration>) -> io::Result<Option<Message>> {
        set_socket_timeout(&self.0, Timeout::Recv, within)?;
        let mut bytes = vec![0; MESSAGE];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut rights = RecvAncillaryBuffer::new(&mut space);
        let received = loop {
            let mut into = [IoSliceMut::new(&mut bytes)];
            match recvmsg(&self.0, &mut into, &mut rights, RecvFlags::CMSG_CLOEXEC) {
                Err(Errno::INTR) => {}
                Err(Errno::CONNRESET) => return Ok(None),
                received => break received?,
            }
        };
        let socket = rights.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut sockets) => sockets.next(),
            _ => None,
        });
        match received.bytes {
            0 => Ok(None),
            length => read(&bytes[..length], socket).map(Some),
        }
    }
}

fn read(bytes: &[u8], socket: Option<OwnedFd>) -> io::Result<Message> {
    let unknown = || io::Error::new(io::ErrorKind::InvalidData, "an unknown message");
    let message: Value = serde_json::from_slice(bytes).map_err(|_| unknown())?;
    match message.as_str() {
        Some("complete") => return Ok(Message::Complete),
        Some("ready") => return Ok(Message::Ready),
        Some("yours") => return Ok(Message::Yours),
        Some("serving") => return Ok(Message::Serving),
        _ => {}
    }
    let place = &message["socket"];
    let address = place["address"].as_str().and_then(|a| a.parse().ok());
    match (place["name"].as_str(), address, socket) {
        (Some(name), Some(address), Some(socket)) => Ok(Message::Socket(Socket {
            name: name.to_owned(),
            address,
            socket,
        })),
        _ => Err(unknown()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_socket_arrives_with_its_name() {
        let (one, other) = Channel::pair().unwrap();
        let other = Channel::of(other).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let socket = Socket {
            name: "main \u{e9}".to_owned(),
            address,
            socket: listener.into(),
        };
        one.say(&Message::Socket(socket)).unwrap();
        one.say(&Message::Complete).unwrap();
        let Some(Message::Socket(arrived)) = other.hear(None).unwrap() else {
            panic!("no socket");
        };
        assert_eq!(
            (arrived.name.as_str(), arrived.address),
            ("main \u{e9}", address)
        );
        assert_eq!(
            TcpListener::from(arrived.socket).local_addr().unwrap(),
            address
        );
        assert!(matches!(other.hear(None).unwrap(), Some(Message::Complete)));
        other.say(&Message::Ready).unwrap();
        assert!(matches!(one.hear(None).unwrap(), Some(Message::Ready)));
        let late = one.hear(Some(Duration::from_millis(1))).unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::WouldBlock);
        drop(other);
        assert!(one.hear(None).unwrap().is_none());
    }
}
