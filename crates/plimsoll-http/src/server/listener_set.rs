//! The listeners of one shard, which are waited at all at once: a reload may open and close them.

use crate::operations::meters::Counter;
use crate::transport::listen::{AcceptQueue, Listener};
use crate::turn::Batch;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::net::TcpStream;

/// A listener that is to be open, with the key by which it is known: two with equal keys are the same listener.
#[derive(Debug)]
pub struct ListenerSpec<K> {
    /// Its key.
    pub id: K,
    /// The socket, if it was bound just now; `None`: it was open before and stays.
    pub listener: Option<Listener>,
}

impl<K: Clone> ListenerSpec<K> {
    /// This listener for one more shard, with a descriptor of its own.
    ///
    /// # Errors
    /// When no descriptor is left.
    pub fn try_clone(&self) -> io::Result<Self> {
        let listener = self.listener.as_ref().map(Listener::try_clone);
        Ok(Self {
            id: self.id.clone(),
            listener: listener.transpose()?,
        })
    }
}

/// A shard's open listeners.
#[derive(Debug)]
pub struct ListenerSet<K> {
    open: Open<K>,
    batch: Batch,
    exhausted: Arc<Counter>,
}

#[derive(Debug)]
struct Open<K> {
    listeners: Vec<(Rc<K>, AcceptQueue)>,
    /// The place of the one that is asked first.
    first: usize,
}

/// A client that was accepted.
#[derive(Debug)]
pub struct Entered<K> {
    /// Its connection.
    pub stream: TcpStream,
    /// Its own address.
    pub peer: SocketAddr,
    /// The listener that it came by.
    pub listener: Rc<K>,
}

impl<K: Eq> ListenerSet<K> {
    /// No listener is open yet; `exhausted` counts clients that wait for want of a descriptor.
    #[must_use]
    pub fn new(exhausted: Arc<Counter>) -> Self {
        Self {
            open: Open {
                listeners: Vec::new(),
                first: 0,
            },
            batch: Batch::default(),
            exhausted,
        }
    }

    /// Closes the listeners that are not among these, and opens those that are new.
    ///
    /// # Errors
    /// When the system has no room to wait for one's clients. Descriptors they have already.
    pub fn reconcile(&mut self, listeners: Vec<ListenerSpec<K>>) -> io::Result<()> {
        let open = &mut self.open.listeners;
        open.retain(|(id, _)| listeners.iter().any(|listener| listener.id == **id));
        for ListenerSpec { id, listener } in listeners {
            if let Some(listener) = listener {
                open.push((Rc::new(id), listener.into_queue()?));
            }
        }
        Ok(())
    }

    /// The next client. Never ready without a listener. A few are accepted in a turn of the shard. Cancelling it loses nobody.
    ///
    /// # Errors
    /// The system's, when a listener is of no more use.
    pub async fn accept(&mut self) -> io::Result<Entered<K>> {
        let (open, exhausted) = (&mut self.open, &self.exhausted);
        self.batch
            .next(|context| open.poll_accept(context, exhausted))
            .await
    }
}

impl<K> Open<K> {
    /// Asks each listener once, and next time first the one behind that whose client this is.
    fn poll_accept(
        &mut self,
        context: &mut Context<'_>,
        exhausted: &Counter,
    ) -> Poll<io::Result<Entered<K>>> {
        let count = self.listeners.len();
        for place in (self.first..count).chain(0..self.first.min(count)) {
            let (id, queue) = &mut self.listeners[place];
            let accepted = queue.poll_accept(context, || exhausted.add(1));
            if let Poll::Ready(accepted) = accepted {
                self.first = (place + 1) % count;
                return Poll::Ready(accepted.map(|(stream, peer)| Entered {
                    stream,
                    peer,
                    listener: Rc::clone(id),
                }));
            }
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testbed::port;
    use std::cell::Cell;
    use std::time::Duration;

    /// Time that a client over loopback has to be accepted: reached only where nobody accepts it.
    const LONG: Duration = Duration::from_secs(10);

    fn open(count: usize) -> (ListenerSet<usize>, Vec<SocketAddr>) {
        let mut set = ListenerSet::new(Arc::default());
        let host = port::own_host();
        let bind = |id| {
            let listener = Listener::bind((host, 0).into()).unwrap();
            let address = listener.local_addr().unwrap();
            let listener = Some(listener);
            (ListenerSpec { id, listener }, address)
        };
        let (specs, addresses) = (0..count).map(bind).unzip();
        set.reconcile(specs).unwrap();
        (set, addresses)
    }

    /// Who is accepted next: its address, and the place of its listener.
    async fn accepted(set: &mut ListenerSet<usize>) -> (SocketAddr, usize) {
        let accepted = tokio::time::timeout(LONG, set.accept()).await;
        let entered = accepted.expect("nobody was accepted").unwrap();
        assert_eq!(entered.stream.peer_addr().unwrap(), entered.peer);
        (entered.peer, *entered.listener)
    }

    #[tokio::test]
    async fn clients_of_every_listener_are_accepted() {
        for count in 1..=4 {
            let (mut set, addresses) = open(count);
            for round in 0..2 {
                for (id, address) in addresses.iter().enumerate() {
                    let client = TcpStream::connect(address).await.unwrap();
                    let own = client.local_addr().unwrap();
                    assert_eq!(accepted(&mut set).await, (own, id), "{count} {round}");
                }
            }
        }
    }

    #[tokio::test]
    async fn a_busy_listener_keeps_nobody_out() {
        let (mut set, addresses) = open(3);
        let mut clients = Vec::new();
        for place in [0, 0, 0, 1, 2] {
            clients.push(TcpStream::connect(addresses[place]).await.unwrap());
        }
        let mut from = Vec::new();
        for _ in 0..clients.len() {
            from.push(accepted(&mut set).await.1);
        }
        let first = |id: usize| from.iter().position(|known| *known == id).unwrap();
        assert!(first(1) < 4 && first(2) < 4, "{from:?}");
    }

    #[tokio::test]
    async fn a_listener_that_is_left_out_is_closed() {
        let (mut set, addresses) = open(3);
        // The last was asked first next time, and is gone by then.
        let _client = TcpStream::connect(addresses[1]).await.unwrap();
        assert_eq!(accepted(&mut set).await.1, 1);
        let stays = ListenerSpec {
            id: 1,
            listener: None,
        };
        set.reconcile(vec![stays]).unwrap();
        for closed in [addresses[0], addresses[2]] {
            assert!(TcpStream::connect(closed).await.is_err());
        }
        let _client = TcpStream::connect(addresses[1]).await.unwrap();
        assert_eq!(accepted(&mut set).await.1, 1);
    }

    #[tokio::test]
    async fn clients_that_come_together_are_accepted_a_few_in_a_turn() {
        let (mut set, addresses) = open(2);
        let mut clients = Vec::new();
        for round in 0..20 {
            clients.push(TcpStream::connect(addresses[round % 2]).await.unwrap());
        }
        let turns = Rc::new(Cell::new(0));
        let counted = async {
            loop {
                turns.set(turns.get() + 1);
                tokio::task::yield_now().await;
            }
        };
        let all = async {
            for _ in &clients {
                accepted(&mut set).await;
            }
        };
        tokio::select! {
            biased;
            () = counted => {}
            () = all => {}
        }
        assert!(turns.get() >= 5, "{}", turns.get());
    }
}
