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
pub(crate) struct ListenerSpec {
    pub(crate) id: ListenerId,
    /// The socket, if it was bound just now; a listener_id that was open before goes on.
    pub(crate) listener: Option<Listener>,
}

impl ListenerSpec {
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
pub(crate) struct ListenerId {
    pub(crate) name: String,
    /// As configured, so that the port may be 0.
    pub(crate) address: SocketAddr,
}

/// A shard's open listeners.
#[derive(Debug)]
pub(crate) struct ListenerSet {
    waiting: JoinSet<io::Result<Entered>>,
    open: HashMap<Rc<ListenerId>, AbortHandle>,
    metrics: Arc<ShardMetrics>,
}

/// A client, and through which listener_id it came.
#[derive(Debug)]
struct Entered {
    stream: TcpStream,
    listener_id: Rc<ListenerId>,
    listener: TcpListener,
}

impl ListenerSet {
    /// None open yet.
    pub(crate) fn new(metrics: Arc<ShardMetrics>) -> Self {
        Self {
            waiting: JoinSet::new(),
            open: HashMap::new(),
            metrics,
        }
    }

    /// Closes the listeners that are not among these, and opens those that are new.
    ///
    /// # Errors
    /// When the system has no room to wait for one's clients. Descriptors they have already.
    pub(crate) fn reconcile(&mut self, listeners: Vec<ListenerSpec>) -> io::Result<()> {
        self.open.retain(|id, waiting| {
            let stays = listeners.iter().any(|listener_id| listener_id.id == **id);
            if !stays {
                waiting.abort();
            }
            stays
        });
        for listener_id in listeners {
            if let Some(listener) = listener_id.listener {
                let socket = listener.into_shard()?;
                self.wait_at(Rc::new(listener_id.id), socket);
            }
        }
        Ok(())
    }

    /// The next client, and the name of the listener that it came by. Never ready without a listener_id.
    pub(crate) async fn accept(&mut self) -> io::Result<(TcpStream, Rc<ListenerId>)> {
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
            if self.open.contains_key(&entered.listener_id) {
                self.wait_at(Rc::clone(&entered.listener_id), entered.listener);
            }
            return Ok((entered.stream, entered.listener_id));
        }
    }

    /// Closes all of them; the clients that had come in already.
    pub(crate) async fn close(mut self) -> Vec<(TcpStream, Rc<ListenerId>)> {
        self.waiting.abort_all();
        let mut late = Vec::new();
        while let Some(ended) = self.waiting.join_next().await {
            if let Ok(Ok(entered)) = ended {
                late.push((entered.stream, entered.listener_id));
            }
        }
        late
    }

    fn wait_at(&mut self, listener_id: Rc<ListenerId>, listener: TcpListener) {
        let metrics = Arc::clone(&self.metrics);
        let id = Rc::clone(&listener_id);
        let waiting = self.waiting.spawn_local(async move {
            let stream = accept_or_tell(&listener, || metrics.exhausted.add(1)).await?;
            Ok(Entered {
                stream,
                listener_id,
                listener,
            })
        });
        self.open.insert(id, waiting);
    }
}
