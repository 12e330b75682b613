//! Securing a connection before its first request, within a time and unless the server is going down.

use crate::drain::Drain;
use crate::transport::stream::Stream;
use crate::transport::tls::ServerTls;
use crate::turn;
use std::io;
use std::time::Duration;
use tokio::net::TcpStream;

/// Outcome of a handshake.
#[derive(Debug)]
pub enum Handshake {
    /// The connection is secured.
    Secured(Stream),
    /// The handshake or the transport failed; the client has been sent an alert where it could be.
    Failed(io::Error),
    /// It took longer than it may.
    Late,
    /// The server went down first.
    Drained,
}

/// Carries out a handshake that may take `limit`.
pub async fn secure(
    tls: &ServerTls,
    stream: TcpStream,
    limit: Duration,
    drain: &Drain,
) -> Handshake {
    if drain.has_begun() {
        return Handshake::Drained;
    }
    // Boxed: it is large, short, and none of a connection that is open for hours should carry its memory.
    let handshake = Box::pin(tokio::time::timeout(limit, tls.accept(stream)));
    tokio::select! {
        secured = handshake => match secured {
            Ok(Ok(stream)) => Handshake::Secured(Stream::Tls(Box::new(stream))),
            Ok(Err(error)) => Handshake::Failed(error),
            Err(_) => {
                turn::comes().await;
                Handshake::Late
            }
        },
        () = drain.begins() => Handshake::Drained,
    }
}
