//! Where a shard takes clients in: one task per listener, which a reload may open and close.

use crate::metrics::ShardMetrics;
use plimsoll_http::{Listener, accept_or_tell};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

/// A listener that is to be open.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) id: DoorId,
    /// The socket, if it was bound just now; a door that was open before goes on.
    pub(crate) listener: Option<Listener>,
}

impl Door {
    /// The same for one more shard, with a descriptor of its own.
    ///
    /// # Errors
    /// When no descriptor is left.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            id: self.id.clone(),
            listener: self
                .listener
                .as_ref()
                .map(Listener::try_clone)
                .transpose()?,
        })
    }
}

/// What a listener is known by: two of the same name and address are the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct DoorId {
    pub(crate) name: String,
    /// As configured, so that the port may be 0.
    pub(crate) address: SocketAddr,
}

/// A shard's open doors.
#[derive(Debug)]
pub(crate) struct Doors {
    waiting: JoinSet<io::Result<Entered>>,
    open: HashMap<Rc<DoorId>, AbortHandle>,
    metrics: Arc<ShardMetrics>,
}

/// A client, and through which door it came.
#[derive(Debug)]
struct Entered {
    stream: TcpStream,
    door: Rc<DoorId>,
    listener: TcpListener,
}

impl Doors {
    /// None open yet.
    pub(crate) fn new(metrics: Arc<ShardMetrics>) -> Self {
        Self {
            waiting: JoinSet::new(),
            open: HashMap::new(),
            metrics,
        }
    }

    /// Closes the doors that are not among these, and opens those that are new.
    ///
    /// # Errors
    /// When the system has no room to wait for one's clients. Descriptors they have already.
    pub(crate) fn become_these(&mut self, doors: Vec<Door>) -> io::Result<()> {
        self.open.retain(|id, waiting| {
            let stays = doors.iter().any(|door| door.id == **id);
            if !stays {
                waiting.abort();
            }
            stays
        });
        for door in doors {
            if let Some(listener) = door.listener {
                let socket = listener.into_shard()?;
                self.wait_at(Rc::new(door.id), socket);
            }
        }
        Ok(())
    }

    /// The next client, and the name of the listener that it came by. Never ready without a door.
    pub(crate) async fn accept(&mut self) -> io::Result<(TcpStream, Rc<DoorId>)> {
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
            if self.open.contains_key(&entered.door) {
                self.wait_at(Rc::clone(&entered.door), entered.listener);
            }
            return Ok((entered.stream, entered.door));
        }
    }

    /// Closes all of them; the clients that had come in already.
    pub(crate) async fn close(mut self) -> Vec<(TcpStream, Rc<DoorId>)> {
        self.waiting.abort_all();
        let mut late = Vec::new();
        while let Some(ended) = self.waiting.join_next().await {
            if let Ok(Ok(entered)) = ended {
                late.push((entered.stream, entered.door));
            }
        }
        late
    }

    fn wait_at(&mut self, door: Rc<DoorId>, listener: TcpListener) {
        let metrics = Arc::clone(&self.metrics);
        let id = Rc::clone(&door);
        let waiting = self.waiting.spawn_local(async move {
            let stream = accept_or_tell(&listener, || metrics.exhausted.add(1)).await?;
            Ok(Entered {
                stream,
                door,
                listener,
            })
        });
        self.open.insert(id, waiting);
    }
}
