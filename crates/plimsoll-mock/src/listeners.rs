//! Where clients come in: listeners that shards share, and the wait for the next client of any of them.

use plimsoll_http::tls::ServerTls;
use plimsoll_http::{Listener, accept};
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::task::Poll;
use tokio::net::TcpStream;

/// A listener of the mock.
#[derive(Debug)]
pub(crate) struct ListenerSpec {
    pub(crate) listener: Listener,
    /// What secures their connections.
    pub(crate) tls: Option<ServerTls>,
}

/// A shard's share of a spec.
#[derive(Debug)]
pub(crate) struct ShardListener {
    listener: tokio::net::TcpListener,
    tls: Option<ServerTls>,
}

/// A client that has come in, and what secures its connection.
type Entered<'a> = io::Result<(TcpStream, Option<&'a ServerTls>)>;

/// The clients of several listeners, one after the other. Each listener has one wait, which goes on until its client is there.
#[derive(Debug)]
pub(crate) struct Incoming<'a, F> {
    listeners: &'a [ShardListener],
    enter: fn(&'a ShardListener) -> F,
    waits: Vec<Pin<Box<F>>>,
    /// Whose turn it is to be asked first: one that is always busy keeps nobody else out.
    turn: usize,
}

impl ListenerSpec {
    /// A handle for one shard, inside whose runtime this is called.
    pub(crate) fn for_shard(&self) -> io::Result<ShardListener> {
        Ok(ShardListener {
            listener: self.listener.for_shard()?,
            tls: self.tls.clone(),
        })
    }
}

impl ShardListener {
    async fn enter(&self) -> Entered<'_> {
        Ok((accept(&self.listener).await?, self.tls.as_ref()))
    }
}

/// The clients of these listeners.
pub(crate) fn incoming(
    listeners: &[ShardListener],
) -> Incoming<'_, impl Future<Output = Entered<'_>>> {
    Incoming::of(listeners, ShardListener::enter)
}

impl<'a, F: Future> Incoming<'a, F> {
    fn of(listeners: &'a [ShardListener], enter: fn(&'a ShardListener) -> F) -> Self {
        Self {
            listeners,
            enter,
            waits: listeners.iter().map(enter).map(Box::pin).collect(),
            turn: 0,
        }
    }

    /// Waits for the next client. Nobody is lost if the wait is given up.
    pub(crate) async fn next(&mut self) -> F::Output {
        poll_fn(|context| {
            let count = self.listeners.len();
            for place in (self.turn..count).chain(0..self.turn) {
                let mut wait = self.waits[place].as_mut();
                if let Poll::Ready(entered) = wait.as_mut().poll(context) {
                    wait.set((self.enter)(&self.listeners[place]));
                    self.turn = (place + 1) % count;
                    return Poll::Ready(entered);
                }
            }
            Poll::Pending
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, SocketAddr};
    use std::time::Duration;

    /// How long a client may take over the loopback to be there: never reached unless nobody waits for it.
    const LONG: Duration = Duration::from_secs(10);

    fn specs(count: usize) -> (Vec<ShardListener>, Vec<SocketAddr>) {
        let open = |_| {
            let listener = Listener::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
            let address = listener.local_addr().unwrap();
            let spec = ListenerSpec {
                listener,
                tls: None,
            };
            (spec.for_shard().unwrap(), address)
        };
        (0..count).map(open).unzip()
    }

    #[tokio::test]
    async fn clients_of_every_entrance_come_in() {
        for count in 1..=4 {
            let (listeners, addresses) = specs(count);
            let mut incoming = incoming(&listeners);
            for round in 0..2 {
                for address in &addresses {
                    let client = TcpStream::connect(address).await.unwrap();
                    let entered = tokio::time::timeout(LONG, incoming.next()).await;
                    let (stream, _) = entered.expect("nobody came in").unwrap();
                    let own = client.local_addr().unwrap();
                    assert_eq!(stream.peer_addr().unwrap(), own, "{count} {round}");
                }
            }
        }
    }

    #[tokio::test]
    async fn a_busy_entrance_keeps_nobody_out() {
        let (listeners, addresses) = specs(3);
        let mut clients = Vec::new();
        for place in [0, 0, 0, 1, 2] {
            clients.push(TcpStream::connect(addresses[place]).await.unwrap());
        }
        let mut incoming = incoming(&listeners);
        let mut ports = Vec::new();
        for _ in 0..3 {
            let entered = tokio::time::timeout(LONG, incoming.next()).await;
            let (stream, _) = entered.expect("nobody came in").unwrap();
            ports.push(stream.local_addr().unwrap());
        }
        assert_eq!(ports, addresses);
    }
}
