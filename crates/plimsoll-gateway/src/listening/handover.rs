//! The sockets that listen, as they pass from one process to its successor: inherited, open, and let go of.
//!
//! A socket has one queue of clients, however many processes have it: none is lost as long as somebody has it. Which processes those are,
//! and how sockets get from one to the other, is left to the binary.

use crate::listening::listener_id::ListenerId;
use plimsoll_http::Listener;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// A socket that listens, and what it is known by.
#[derive(Debug)]
pub struct Socket {
    /// The listener's name; the admin listener's is `admin`.
    pub name: String,
    /// As configured, so that the port may be 0.
    pub address: SocketAddr,
    /// The socket itself.
    pub socket: OwnedFd,
}

/// Called once.
pub type Serving = Box<dyn FnOnce() + Send>;

/// Sockets that a gateway takes over from another process, and can hand over itself.
#[derive(Default)]
pub struct Handover {
    /// Its sockets.
    pub sockets: Arc<Sockets>,
    /// Is called once, when everything is set up and no client has been taken.
    pub prepared: Option<Serving>,
    /// Becomes true, or loses its sender, when clients may be taken; at once without it.
    pub go: Option<watch::Receiver<bool>>,
    /// Becomes true, or loses its sender, when no process before this one serves clients any more; so it is at once without it. Until
    /// then nothing is reloaded.
    pub alone: Option<watch::Receiver<bool>>,
}

impl std::fmt::Debug for Handover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handover").finish_non_exhaustive()
    }
}

/// The sockets of a gateway. Blocking locks: they are taken when listeners open and close, never for a client.
#[derive(Debug, Default)]
pub struct Sockets {
    /// Taken over, and not yet asked for.
    inherited: Mutex<Vec<Known>>,
    /// Those that shards accept clients from, each once more.
    open: Mutex<Vec<Known>>,
    offered: AtomicBool,
    handed_over: AtomicBool,
}

#[derive(Debug)]
struct Known {
    id: ListenerId,
    listener: Listener,
}

impl Sockets {
    /// Those that another process has handed over.
    ///
    /// # Errors
    /// When one of them does not listen.
    pub fn inherit(sockets: Vec<Socket>) -> io::Result<Self> {
        let known = sockets.into_iter().map(|socket| {
            Ok(Known {
                id: ListenerId {
                    name: socket.name,
                    address: socket.address,
                },
                listener: Listener::inherit(socket.socket)?,
            })
        });
        Ok(Self {
            inherited: Mutex::new(known.collect::<io::Result<_>>()?),
            ..Self::default()
        })
    }

    /// Those that are open now, each with a descriptor of its own.
    ///
    /// # Errors
    /// When no descriptor is left.
    pub fn duplicates(&self) -> io::Result<Vec<Socket>> {
        let open = lock(&self.open);
        let duplicates = open.iter().map(|known| {
            Ok(Socket {
                name: known.id.name.clone(),
                address: known.id.address,
                socket: known.listener.try_clone()?.into(),
            })
        });
        duplicates.collect()
    }

    /// Whether another process is being started that is to serve them. What it has read is not read anew here meanwhile.
    pub fn are_offered(&self, offered: bool) {
        self.offered.store(offered, Ordering::SeqCst);
    }

    /// Whether another process is to serve them, or does.
    pub(crate) fn have_a_taker(&self) -> bool {
        self.offered.load(Ordering::SeqCst) || self.have_a_successor()
    }

    /// Another process serves them from now on: when this one drains, clients that are connected may send one more request.
    pub fn are_handed_over(&self) {
        self.handed_over.store(true, Ordering::SeqCst);
    }

    /// Whether another process serves them.
    pub(crate) fn have_a_successor(&self) -> bool {
        self.handed_over.load(Ordering::SeqCst)
    }

    /// The socket of a listener: the one that was taken over, else a new one.
    pub(crate) fn open(&self, id: &ListenerId) -> io::Result<Listener> {
        let mut inherited = lock(&self.inherited);
        let at = inherited.iter().position(|known| known.id == *id);
        let listener = match at {
            Some(at) => inherited.swap_remove(at).listener,
            None => Listener::bind(id.address)?,
        };
        drop(inherited);
        let known = Known {
            id: id.clone(),
            listener: listener.try_clone()?,
        };
        lock(&self.open).push(known);
        Ok(listener)
    }

    /// Lets go of what nobody has asked for: listeners that the configuration does not have any more.
    pub(crate) fn forget_the_rest(&self) {
        lock(&self.inherited).clear();
    }

    /// Lets go of the open ones that these are not.
    pub(crate) fn keep(&self, ids: &[ListenerId]) {
        lock(&self.open).retain(|known| known.id.name == ADMIN || ids.contains(&known.id));
    }

    /// Lets go of all: clients are not taken any more.
    pub(crate) fn close(&self) {
        lock(&self.open).clear();
    }
}

/// Name of the admin listener; no other has it.
pub(crate) const ADMIN: &str = "admin";

fn lock(known: &Mutex<Vec<Known>>) -> MutexGuard<'_, Vec<Known>> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where shards wait for each other, and for the word to take clients.
pub(crate) struct Starting {
    left: AtomicUsize,
    prepared: Mutex<Option<Serving>>,
    go: Option<watch::Receiver<bool>>,
}

impl Starting {
    pub(crate) fn new(
        shards: usize,
        prepared: Option<Serving>,
        go: Option<watch::Receiver<bool>>,
    ) -> Self {
        Self {
            left: AtomicUsize::new(shards),
            prepared: Mutex::new(prepared),
            go,
        }
    }

    /// One more shard is set up; returns when it may take clients, or the gateway is to stop.
    pub(crate) async fn wait(&self, mut stop: watch::Receiver<bool>) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(tell) = prepared.take() {
                tell();
            }
        }
        let Some(mut go) = self.go.clone() else {
            return;
        };
        tokio::select! {
            _ = go.wait_for(|go| *go) => {}
            _ = stop.wait_for(|stop| *stop) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> ListenerId {
        ListenerId {
            name: name.to_owned(),
            address: "127.0.0.1:0".parse().unwrap(),
        }
    }

    #[test]
    fn a_socket_is_the_same_in_both_processes() {
        let before = Sockets::default();
        let [main, other] = ["main", "other"].map(|name| before.open(&id(name)).unwrap());
        let after = Sockets::inherit(before.duplicates().unwrap()).unwrap();
        let taken = after.open(&id("main")).unwrap();
        assert_eq!(taken.local_addr().unwrap(), main.local_addr().unwrap());
        let new = after.open(&id("new")).unwrap();
        assert_ne!(new.local_addr().unwrap(), other.local_addr().unwrap());
        after.forget_the_rest();
        assert_eq!(after.duplicates().unwrap().len(), 2);
        after.keep(&[id("new")]);
        let names: Vec<_> = (after.duplicates().unwrap().into_iter())
            .map(|socket| socket.name)
            .collect();
        assert_eq!(names, ["new"]);
        after.close();
        assert!(after.duplicates().unwrap().is_empty());
    }

    #[test]
    fn what_does_not_listen_is_not_taken_over() {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let ListenerId { name, address } = id("main");
        let socket = Socket {
            name,
            address,
            socket: socket.into(),
        };
        assert!(Sockets::inherit(vec![socket]).is_err());
    }

    #[tokio::test]
    async fn shards_wait_for_each_other_and_for_the_word() {
        let told = Arc::new(AtomicBool::new(false));
        let tell = Arc::clone(&told);
        let prepared = Box::new(move || tell.store(true, Ordering::SeqCst));
        let (may_go, go) = watch::channel(false);
        let (_stop, stopped) = watch::channel(false);
        let starting = Starting::new(2, Some(prepared), Some(go));
        let shards = async { tokio::join!(starting.wait(stopped.clone()), starting.wait(stopped)) };
        let word = async {
            while !told.load(Ordering::SeqCst) {
                tokio::task::yield_now().await;
            }
            may_go.send_replace(true);
        };
        tokio::join!(shards, word);
    }
}
