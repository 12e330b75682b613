//! Whether one host reaches another: a connection, or datagrams, from a socket inside the one to a socket inside the other.

use super::resolver;
use crate::topology::namespace::NetworkNamespace;
use plimsoll_base::ignored::Ignored as _;
use simple_dns::rdata::RData;
use simple_dns::{CLASS, Name, Packet, PacketFlag, QCLASS, QTYPE, Question, RCODE, TYPE};
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

/// A port at which nobody listens: a host that lives refuses.
const NOBODY: u16 = 1;
/// How long silence lasts until it counts as such. Between namespaces an answer takes less than a millisecond.
const SILENCE: Duration = Duration::from_millis(500);
/// How many datagrams are under way at most: a socket's buffer holds some hundreds of them.
const AT_ONCE: u32 = 20;

/// One end of a probe: a host's namespace and address.
#[derive(Debug, Clone)]
pub(super) struct End {
    pub(super) namespace: NetworkNamespace,
    pub(super) address: Ipv4Addr,
}

/// The outcome of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    /// It was made.
    Made,
    /// It was refused or reset.
    Refused,
    /// Nothing came back.
    Silence,
    /// Something else, in words.
    Failed(String),
}

impl fmt::Display for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Made => write!(f, "the connection was made"),
            Self::Refused => write!(f, "the connection was reset"),
            Self::Silence => write!(f, "no answer came to the connection"),
            Self::Failed(reason) => write!(f, "the connection failed: {reason}"),
        }
    }
}

/// Tries to connect one host with another, where somebody listens for it.
pub(super) async fn connect(from: &End, to: &End) -> io::Result<Connection> {
    let own = SocketAddr::from((to.address, 0));
    let listener = to.namespace.inside(move || TcpListener::bind(own)).await?;
    let there = listener.local_addr()?;
    let attempt = from
        .namespace
        .inside(move || Ok(TcpStream::connect_timeout(&there, SILENCE)))
        .await?;
    drop(listener);
    Ok(outcome(attempt.map(drop)))
}

/// Tries to connect a host with an address, behind which there may be nobody.
pub(super) async fn knock(from: &End, to: Ipv4Addr) -> io::Result<Connection> {
    let there = SocketAddr::from((to, NOBODY));
    let attempt = from
        .namespace
        .inside(move || Ok(TcpStream::connect_timeout(&there, SILENCE)))
        .await?;
    Ok(outcome(attempt.map(drop)))
}

fn outcome(attempt: io::Result<()>) -> Connection {
    use io::ErrorKind;
    match attempt.map_err(|error| (error.kind(), error)) {
        Ok(()) => Connection::Made,
        Err((ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset, _)) => Connection::Refused,
        // Without an answer to the question for its link-layer address, a host is unreachable.
        Err((ErrorKind::TimedOut | ErrorKind::WouldBlock | ErrorKind::HostUnreachable, _)) => {
            Connection::Silence
        }
        Err((_, error)) => Connection::Failed(error.to_string()),
    }
}

/// Sends datagrams from one host to another; gives how many arrived.
pub(super) async fn datagrams(from: &End, to: &End, count: u32) -> io::Result<u32> {
    let bind = |end: &End| {
        let own = SocketAddr::from((end.address, 0));
        end.namespace.begin(move || UdpSocket::bind(own))
    };
    let (sender, receiver) = (bind(from)?, bind(to)?);
    let (sender, receiver) = (sender.outcome().await?, receiver.outcome().await?);
    let exchange = from
        .namespace
        .begin(move || pass(&sender, &receiver, count));
    exchange?.outcome().await
}

fn pass(sender: &UdpSocket, receiver: &UdpSocket, count: u32) -> io::Result<u32> {
    let there = receiver.local_addr()?;
    let mut arrived = 0;
    let mut sent = 0;
    while sent < count {
        let burst = AT_ONCE.min(count - sent);
        for _ in 0..burst {
            sender
                .send_to(&[0], there)
                .ignored("one that does not leave is lost like any other");
        }
        sent += burst;
        receiver.set_nonblocking(true)?;
        arrived += received(receiver);
    }
    receiver.set_nonblocking(false)?;
    receiver.set_read_timeout(Some(SILENCE))?;
    while arrived < count && receiver.recv(&mut [0]).is_ok() {
        arrived += 1;
    }
    Ok(arrived)
}

fn received(receiver: &UdpSocket) -> u32 {
    let mut arrived = 0;
    while receiver.recv(&mut [0]).is_ok() {
        arrived += 1;
    }
    arrived
}

/// The answer to a question for a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Its address.
    Address(Ipv4Addr),
    /// No address, with this code of the message.
    Code(RCODE),
    /// Nothing came.
    Nothing,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => write!(f, "{address}"),
            Self::Code(RCODE::NameError) => write!(f, "NXDOMAIN"),
            Self::Code(RCODE::ServerFailure) => write!(f, "SERVFAIL"),
            Self::Code(code) => write!(f, "{code:?}"),
            Self::Nothing => write!(f, "nothing"),
        }
    }
}

/// Asks the name server of a host, from inside.
pub(super) async fn look_up(from: &NetworkNamespace, name: &str) -> io::Result<Answer> {
    let name = name.to_owned();
    from.inside(move || ask(&name)).await
}

fn ask(name: &str) -> io::Result<Answer> {
    let name = Name::new(name).map_err(io::Error::other)?;
    let mut query = Packet::new_query(1);
    query.set_flags(PacketFlag::RECURSION_DESIRED);
    let (kind, class) = (QTYPE::TYPE(TYPE::A), QCLASS::CLASS(CLASS::IN));
    query
        .questions
        .push(Question::new(name, kind, class, false));
    let query = query.build_bytes_vec().map_err(io::Error::other)?;
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.connect((resolver::ADDRESS, resolver::PORT))?;
    socket.set_read_timeout(Some(SILENCE))?;
    socket.send(&query)?;
    let mut message = [0; resolver::MESSAGE_BYTES];
    let length = match socket.recv(&mut message) {
        Ok(length) => length,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Answer::Nothing),
        Err(error) => return Err(error),
    };
    let reply = Packet::parse(&message[..length]).map_err(io::Error::other)?;
    let mut addresses = reply
        .answers
        .iter()
        .filter_map(|record| match &record.rdata {
            RData::A(a) => Some(Ipv4Addr::from(a.address)),
            _ => None,
        });
    Ok(addresses
        .next()
        .map_or(Answer::Code(reply.rcode()), Answer::Address))
}
