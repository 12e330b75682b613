//! The listeners of one shard, each with a task that waits for its next client: a reload may open and close them.

use crate::operations::meters::Counter;
use crate::transport::listen::{Listener, accept_or_tell};
use std::collections::HashMap;
use std::hash::Hash;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

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
    waiting: JoinSet<io::Result<Entered<K>>>,
    open: HashMap<Rc<K>, AbortHandle>,
    exhausted: Arc<Counter>,
}

/// A client that was accepted, and the listener that goes on waiting.
#[derive(Debug)]
struct Entered<K> {
    stream: TcpStream,
    id: Rc<K>,
    listener: TcpListener,
}

impl<K: Eq + Hash + 'static> ListenerSet<K> {
    /// No listener is open yet; `exhausted` counts clients that wait for want of a descriptor.
    #[must_use]
    pub fn new(exhausted: Arc<Counter>) -> Self {
        Self {
            waiting: JoinSet::new(),
            open: HashMap::new(),
            exhausted,
        }
    }

    /// Closes the listeners that are not among these, and opens those that are new.
    ///
    /// # Errors
    /// When the system has no room to wait for one's clients. Descriptors they have already.
    pub fn reconcile(&mut self, listeners: Vec<ListenerSpec<K>>) -> io::Result<()> {
        self.open.retain(|id, waiting| {
            let stays = listeners.iter().any(|listener| listener.id == **id);
            if !stays {
                waiting.abort();
            }
            stays
        });
        for ListenerSpec { id, listener } in listeners {
            if let Some(listener) = listener {
                self.wait_at(Rc::new(id), listener.into_shard()?);
            }
        }
        Ok(())
    }

    /// The next client, and the listener that it came by. Never ready without a listener. Cancelling it loses nobody.
    ///
    /// # Errors
    /// The system's, when a listener is of no more use.
    pub async fn accept(&mut self) -> io::Result<(TcpStream, Rc<K>)> {
        loop {
            let Some(result) = self.waiting.join_next().await else {
                return std::future::pending().await;
            };
            let entered = match result {
                Ok(entered) => entered?,
                Err(error) if error.is_cancelled() => continue,
                Err(panic) => return Err(io::Error::other(panic)),
            };
            // It may have been closed in this very moment; then the client was the last.
            if self.open.contains_key(&entered.id) {
                self.wait_at(Rc::clone(&entered.id), entered.listener);
            }
            return Ok((entered.stream, entered.id));
        }
    }

    /// Closes all of them; returns the clients that had been accepted already.
    pub async fn close(mut self) -> Vec<(TcpStream, Rc<K>)> {
        self.waiting.abort_all();
        let mut late = Vec::new();
        while let Some(ended) = self.waiting.join_next().await {
            if let Ok(Ok(entered)) = ended {
                late.push((entered.stream, entered.id));
            }
        }
        late
    }

    fn wait_at(&mut self, id: Rc<K>, listener: TcpListener) {
        let (key, exhausted) = (Rc::clone(&id), Arc::clone(&self.exhausted));
        let waiting = self.waiting.spawn_local(async move {
            let stream = accept_or_tell(&listener, || exhausted.add(1)).await?;
            Ok(Entered {
                stream,
                id,
                listener,
            })
        });
        self.open.insert(key, waiting);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, SocketAddr};
    use std::time::Duration;
    use tokio::task::LocalSet;

    /// Time that a client over loopback has to be accepted: reached only where nobody accepts it.
    const LONG: Duration = Duration::from_secs(10);

    fn open(count: usize) -> (ListenerSet<usize>, Vec<SocketAddr>) {
        let mut set = ListenerSet::new(Arc::default());
        let bind = |id| {
            let listener = Listener::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
            let address = listener.local_addr().unwrap();
            let listener = Some(listener);
            (ListenerSpec { id, listener }, address)
        };
        let (specs, addresses) = (0..count).map(bind).unzip();
        set.reconcile(specs).unwrap();
        (set, addresses)
    }

    async fn accepted(set: &mut ListenerSet<usize>) -> (TcpStream, usize) {
        let accepted = tokio::time::timeout(LONG, set.accept()).await;
        let (stream, id) = accepted.expect("nobody was accepted").unwrap();
        (stream, *id)
    }

    #[tokio::test]
    async fn clients_of_every_listener_are_accepted() {
        let check = async |count: usize| {
            let (mut set, addresses) = open(count);
            for round in 0..2 {
                for (id, address) in addresses.iter().enumerate() {
                    let client = TcpStream::connect(address).await.unwrap();
                    let (stream, from) = accepted(&mut set).await;
                    assert_eq!(from, id, "{count} {round}");
                    let own = client.local_addr().unwrap();
                    assert_eq!(stream.peer_addr().unwrap(), own, "{count} {round}");
                }
            }
        };
        for count in 1..=4 {
            LocalSet::new().run_until(check(count)).await;
        }
    }

    #[tokio::test]
    async fn a_busy_listener_keeps_nobody_out() {
        let check = async {
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
        };
        LocalSet::new().run_until(check).await;
    }

    #[tokio::test]
    async fn a_listener_that_is_left_out_is_closed() {
        let check = async {
            let (mut set, addresses) = open(2);
            let stays = ListenerSpec {
                id: 1,
                listener: None,
            };
            set.reconcile(vec![stays]).unwrap();
            // Its task ends, and the port with it, when the set is looked at next.
            let _client = TcpStream::connect(addresses[1]).await.unwrap();
            assert_eq!(accepted(&mut set).await.1, 1);
            assert!(TcpStream::connect(addresses[0]).await.is_err());
        };
        LocalSet::new().run_until(check).await;
    }
}
