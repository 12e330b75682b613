//! Which of a name's addresses take connections, found out before a load is spread over them. Looking the name up is left to others.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How long an address has to take a connection.
const LIMIT: Duration = Duration::from_secs(1);

/// The addresses of a name, told apart by whether they take connections.
#[derive(Debug)]
pub struct Reached {
    /// Where a load may go, in the order of the name's addresses; all of them if none takes a connection, so that failures are counted.
    pub addresses: Vec<SocketAddr>,
    /// The others, in the same order.
    pub left_out: Vec<LeftOut>,
}

/// An address that took no connection while another of the same name did.
#[derive(Debug)]
pub struct LeftOut {
    /// The address.
    pub address: SocketAddr,
    /// Why it took none.
    pub reason: io::Error,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, reason } = self;
        write!(f, "{address} takes no connection and is left out: {reason}")
    }
}

/// Tries a connection to each of a name's addresses, all at once; a single address is not tried, as there is nothing to choose from.
pub async fn reach(addresses: Vec<SocketAddr>) -> Reached {
    let mut tries = JoinSet::new();
    if addresses.len() > 1 {
        for (place, address) in addresses.iter().copied().enumerate() {
            tries.spawn(async move { (place, address, attempt(address).await) });
        }
    }
    let mut tried = tries.join_all().await;
    tried.sort_unstable_by_key(|(place, ..)| *place);
    if !tried.iter().any(|(.., attempt)| attempt.is_ok()) {
        return Reached {
            addresses,
            left_out: Vec::new(),
        };
    }
    let mut reached = Reached {
        addresses: Vec::new(),
        left_out: Vec::new(),
    };
    for (_, address, attempt) in tried {
        match attempt {
            Ok(()) => reached.addresses.push(address),
            Err(reason) => reached.left_out.push(LeftOut { address, reason }),
        }
    }
    reached
}

async fn attempt(address: SocketAddr) -> io::Result<()> {
    match timeout(LIMIT, TcpStream::connect(address)).await {
        Ok(connected) => connected.map(drop),
        Err(_) => Err(io::Error::new(
            io::ErrorKind::TimedOut,
            format!("no answer within {} s", LIMIT.as_secs()),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::{TcpListener, TcpSocket};

    /// A socket that has a port of this address and refuses every connection, since it never listens.
    fn refusing(host: &str) -> (TcpSocket, SocketAddr) {
        let socket = TcpSocket::new_v4().unwrap();
        socket
            .bind(SocketAddr::new(host.parse().unwrap(), 0))
            .unwrap();
        let address = socket.local_addr().unwrap();
        (socket, address)
    }

    #[tokio::test]
    async fn an_address_that_refuses_is_left_out_while_another_answers() {
        let (_closed, refusing) = refusing("127.0.0.1");
        let listener = TcpListener::bind("127.0.0.2:0").await.unwrap();
        let open = listener.local_addr().unwrap();
        for addresses in [vec![refusing, open], vec![open, refusing]] {
            let reached = reach(addresses).await;
            assert_eq!(reached.addresses, [open]);
            let [left_out] = &reached.left_out[..] else {
                panic!("{reached:?}");
            };
            assert_eq!(left_out.reason.kind(), io::ErrorKind::ConnectionRefused);
            let text = left_out.to_string();
            assert!(
                text.starts_with(&format!("{refusing} takes no connection and is left out: ")),
                "{text}"
            );
        }
    }

    #[tokio::test]
    async fn all_addresses_stay_if_all_or_none_answer() {
        let ((_a, first), (_b, second)) = (refusing("127.0.0.1"), refusing("127.0.0.2"));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let open = listener.local_addr().unwrap();
        for addresses in [vec![first, second], vec![first], vec![open, open], vec![]] {
            let reached = reach(addresses.clone()).await;
            assert_eq!(reached.addresses, addresses);
            assert!(reached.left_out.is_empty(), "{reached:?}");
        }
    }
}
