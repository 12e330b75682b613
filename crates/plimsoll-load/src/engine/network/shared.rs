//! Connections that are shared by all users of a shard: whoever has something to send takes the one that became idle last.

use super::connection::Connection;
use std::cell::RefCell;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The shared connections of a shard. Users who find all taken get theirs in the order in which they came.
#[derive(Debug)]
pub(in crate::engine) struct Shared {
    permits: Arc<Semaphore>,
    idle: RefCell<Vec<Connection>>,
}

/// The right to use one of the shared connections; it ends when this is dropped.
pub(in crate::engine) type Permit = OwnedSemaphorePermit;

impl Shared {
    /// So many connections, none of them open yet.
    pub(in crate::engine) fn new(connections: usize) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(connections)),
            idle: RefCell::default(),
        }
    }

    /// Waits for the right to use a connection.
    pub(in crate::engine) async fn permit(&self) -> Permit {
        Arc::clone(&self.permits)
            .acquire_owned()
            .await
            .expect("invariant: the semaphore is never closed")
    }

    /// An open connection, for who has a permit.
    pub(in crate::engine) fn take(&self) -> Option<Connection> {
        self.idle.borrow_mut().pop()
    }

    /// Gives a connection back; the permit is dropped after.
    pub(in crate::engine) fn give_back(&self, connection: Connection) {
        self.idle.borrow_mut().push(connection);
    }
}
