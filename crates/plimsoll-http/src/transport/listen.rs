//! Listening: a port is bound once, exclusively, then shared by the shards.

use crate::turn::Batch;
use rustix::io::Errno;
use socket2::{Domain, Protocol, Socket, Type};
use std::future::Future as _;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::Sleep;

/// Connections that may wait to be accepted; the kernel caps it at `somaxconn`.
const BACKLOG: i32 = 4096;
/// How long accepting pauses when this process has no descriptor left.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(10);

/// How much the kernel takes ahead of what the peer's window admits. By default it takes megabytes for a client that reads nothing, and all
/// of that is copied at once, while others wait.
const UNSENT_BYTES: u32 = 128 * 1024;

/// A bound, listening socket.
#[derive(Debug)]
pub struct Listener(std::net::TcpListener);

impl Listener {
    /// Binds `addr`; port 0 asks for any free port.
    ///
    /// # Errors
    /// [`io::ErrorKind::AddrInUse`] when somebody listens there already, or whatever else the system says.
    pub fn bind(addr: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
        // On Linux this only permits binding while old connections are in TIME_WAIT, never a second listener.
        socket.set_reuse_address(true)?;
        set_options(&socket)?;
        socket.bind(&addr.into())?;
        socket.listen(BACKLOG)?;
        Ok(Self(socket.into()))
    }

    /// Takes over a socket that listens already, from another process for instance.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] when it is no socket of TCP that listens.
    pub fn inherit(socket: OwnedFd) -> io::Result<Self> {
        let socket = Socket::from(socket);
        let listens = socket.r#type()? == Type::STREAM && socket.is_listener()?;
        if !listens || socket.local_addr()?.as_socket().is_none() {
            let message = "this is not a socket of TCP that listens";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        // Whoever waits in its queue already has what was set by whom it is from.
        set_options(&socket)?;
        Ok(Self(socket.into()))
    }

    /// The address it is bound to, with the port that the system chose.
    ///
    /// # Errors
    /// The system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    /// A handle for one shard; to be called inside that shard's runtime.
    ///
    /// # Errors
    /// When no descriptor is left.
    pub fn for_shard(&self) -> io::Result<ShardListener> {
        self.try_clone()?.into_shard()
    }

    /// Another handle, with a descriptor of its own, for somebody who is to have no trouble with [`Self::into_shard`].
    ///
    /// # Errors
    /// When no descriptor is left.
    pub fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    /// This handle for one shard; to be called inside that shard's runtime. It takes no further descriptor.
    ///
    /// # Errors
    /// The system's.
    pub fn into_shard(self) -> io::Result<ShardListener> {
        Ok(ShardListener {
            queue: self.into_queue()?,
            batch: Batch::default(),
        })
    }

    /// Like [`Self::into_shard`], for who waits at several of them.
    pub(crate) fn into_queue(self) -> io::Result<AcceptQueue> {
        Ok(AcceptQueue {
            socket: tokio::net::TcpListener::from_std(self.0)?,
            pause: None,
        })
    }
}

impl From<Listener> for OwnedFd {
    fn from(Listener(listener): Listener) -> Self {
        listener.into()
    }
}

/// Sets a listener's own options, and those that the system copies to each connection as it is made.
fn set_options(socket: &Socket) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    socket.set_tcp_nodelay(true)?;
    socket.set_tcp_notsent_lowat(UNSENT_BYTES)
}

/// One shard's handle of a listening socket.
#[derive(Debug)]
pub struct ShardListener {
    queue: AcceptQueue,
    batch: Batch,
}

impl ShardListener {
    /// Accepts the next connection, with Nagle's algorithm off and little room for what cannot be sent yet. Connections that died in the queue
    /// are skipped; when this process has no descriptor left it waits for one. A few are accepted in a turn of the shard. Cancelling it loses
    /// nobody.
    ///
    /// # Errors
    /// The system's, when the listener itself is of no more use.
    pub async fn accept(&mut self) -> io::Result<(TcpStream, SocketAddr)> {
        let queue = &mut self.queue;
        self.batch
            .next(|context| queue.poll_accept(context, || {}))
            .await
    }
}

/// The clients that wait at a listening socket.
#[derive(Debug)]
pub(crate) struct AcceptQueue {
    socket: tokio::net::TcpListener,
    /// It waits for a descriptor.
    pause: Option<Pin<Box<Sleep>>>,
}

impl AcceptQueue {
    /// As [`ShardListener::accept`], as many as there are; `exhausted` is told whenever a client has to wait for want of a descriptor.
    pub(crate) fn poll_accept(
        &mut self,
        context: &mut Context<'_>,
        mut exhausted: impl FnMut(),
    ) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        loop {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(context));
                self.pause = None;
            }
            let error = match ready!(self.socket.poll_accept(context)) {
                // A peer that is gone already shows itself at the first read.
                Ok(accepted) => return Poll::Ready(Ok(accepted)),
                Err(error) => error,
            };
            match Errno::from_io_error(&error) {
                Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                    exhausted();
                    self.pause = Some(Box::pin(tokio::time::sleep(EXHAUSTED_PAUSE)));
                }
                Some(Errno::CONNABORTED | Errno::PERM | Errno::PROTO | Errno::INTR) => {}
                _ => return Poll::Ready(Err(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::SockRef;
    use std::net::Ipv4Addr;

    #[tokio::test]
    async fn an_accepted_connection_has_what_was_set_where_it_was_accepted() {
        let bound = Listener::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let foreign = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let inherited = Listener::inherit(foreign.into()).unwrap();
        for listener in [bound, inherited] {
            let address = listener.local_addr().unwrap();
            let client = TcpStream::connect(address).await.unwrap();
            let mut listener = listener.into_shard().unwrap();
            let (stream, peer) = listener.accept().await.unwrap();
            assert_eq!(peer, client.local_addr().unwrap());
            assert!(stream.nodelay().unwrap());
            let unsent = SockRef::from(&stream).tcp_notsent_lowat().unwrap();
            assert_eq!(unsent, UNSENT_BYTES);
        }
    }
}
