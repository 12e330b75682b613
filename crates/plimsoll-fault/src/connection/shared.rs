//! A proxy on one shard, as its connections share it.

use super::dial::Server;
use super::lane::Key;
use crate::account::Account;
use crate::detour::Detour;
use crate::toxic::Toxics;
use plimsoll_http::timer::DelayTimer;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::task::Waker;
use std::time::Duration;

/// A proxy as its connections see it.
#[derive(Debug)]
pub struct Shared {
    /// Its name.
    pub name: Arc<str>,
    /// From which random values follow.
    pub seed: u64,
    /// Where connections go.
    pub server: Server,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// Its counts.
    pub account: Arc<Account>,
    /// The client that is led elsewhere, if there is one.
    pub detour: Arc<Detour>,
    /// Numbers its connections on all shards.
    pub numbers: Arc<AtomicU64>,
    /// The timer of the shard.
    pub timer: Rc<DelayTimer>,
    /// Connections are to end with RST, now.
    pub is_cut: Cell<bool>,
    toxics: RefCell<Arc<Toxics>>,
    version: Cell<u64>,
    wakers: RefCell<HashMap<u64, Waker>>,
}

/// A proxy that a shard is to open.
#[derive(Debug, Clone)]
pub struct Opening {
    /// See [`Shared::name`].
    pub name: Arc<str>,
    /// See [`Shared::seed`].
    pub seed: u64,
    /// The server, as `host:port`.
    pub upstream: String,
    /// See [`Shared::connect_timeout`].
    pub connect_timeout: Duration,
    /// See [`Shared::account`].
    pub account: Arc<Account>,
    /// See [`Shared::detour`].
    pub detour: Arc<Detour>,
    /// See [`Shared::numbers`].
    pub numbers: Arc<AtomicU64>,
    /// The toxics at first.
    pub toxics: Arc<Toxics>,
}

impl Shared {
    /// A proxy without connections.
    pub fn new(opening: Opening, timer: Rc<DelayTimer>) -> Self {
        Self {
            name: opening.name,
            seed: opening.seed,
            server: Server::new(opening.upstream),
            connect_timeout: opening.connect_timeout,
            account: opening.account,
            detour: opening.detour,
            numbers: opening.numbers,
            timer,
            is_cut: Cell::new(false),
            toxics: RefCell::new(opening.toxics),
            version: Cell::new(0),
            wakers: RefCell::default(),
        }
    }

    /// The toxics from now on, for every byte that is read from now on.
    pub fn change(&self, toxics: Arc<Toxics>) {
        *self.toxics.borrow_mut() = toxics;
        self.version.set(self.version.get() + 1);
        self.wake_all();
    }

    /// Ends all connections with RST.
    pub fn cut(&self) {
        self.is_cut.set(true);
        self.wake_all();
    }

    fn wake_all(&self) {
        for waker in self.wakers.borrow().values() {
            waker.wake_by_ref();
        }
    }

    /// How often the toxics have changed.
    pub fn version(&self) -> u64 {
        self.version.get()
    }

    /// The toxics.
    pub fn toxics(&self) -> Arc<Toxics> {
        Arc::clone(&self.toxics.borrow())
    }

    /// From which a connection's random values follow.
    pub fn key(&self, connection: u64) -> Key<'_> {
        Key {
            seed: self.seed,
            proxy: &self.name,
            connection,
        }
    }

    /// Has a connection woken when something changes.
    pub fn register(&self, connection: u64, waker: &Waker) {
        self.wakers.borrow_mut().insert(connection, waker.clone());
    }

    /// A connection is gone.
    pub fn deregister(&self, connection: u64) {
        self.wakers.borrow_mut().remove(&connection);
    }
}
