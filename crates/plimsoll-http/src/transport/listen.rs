//! Listening: a port is bound once, exclusively, then shared by the shards.

use rustix::io::Errno;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::Duration;
use tokio::net::TcpStream;

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
        socket.bind(&addr.into())?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
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
        socket.set_nonblocking(true)?;
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
    pub fn for_shard(&self) -> io::Result<tokio::net::TcpListener> {
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
    pub fn into_shard(self) -> io::Result<tokio::net::TcpListener> {
        tokio::net::TcpListener::from_std(self.0)
    }
}

impl From<Listener> for OwnedFd {
    fn from(Listener(listener): Listener) -> Self {
        listener.into()
    }
}

/// Accepts the next connection, with Nagle's algorithm off and little room for what cannot be sent yet. Connections that died in the queue
/// are skipped; when this process has no descriptor left it waits for one.
///
/// # Errors
/// The system's, when the listener itself is of no more use.
pub async fn accept(listener: &tokio::net::TcpListener) -> io::Result<TcpStream> {
    accept_or_tell(listener, || {}).await
}

/// Like [`accept`]; `exhausted` is told whenever a client has to wait for want of a descriptor.
///
/// # Errors
/// As [`accept`].
pub async fn accept_or_tell(
    listener: &tokio::net::TcpListener,
    mut exhausted: impl FnMut(),
) -> io::Result<TcpStream> {
    loop {
        match listener.accept().await {
            // A peer that is gone already shows itself at the first read.
            Ok((stream, _)) => match prepare(&stream) {
                Ok(()) => return Ok(stream),
                Err(_) => drop(stream),
            },
            Err(error) => match Errno::from_io_error(&error) {
                Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                    exhausted();
                    tokio::time::sleep(EXHAUSTED_PAUSE).await;
                }
                Some(Errno::CONNABORTED | Errno::PERM | Errno::PROTO | Errno::INTR) => {}
                _ => return Err(error),
            },
        }
    }
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    SockRef::from(stream).set_tcp_notsent_lowat(UNSENT_BYTES)
}
