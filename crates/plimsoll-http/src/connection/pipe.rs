//! A connection in memory, for who speaks HTTP/1.1 to this very process: what another protocol carries can so be treated as what came over a
//! connection of its own.

use super::{TcpClient, TcpServer};
use crate::codec::limits::Limits;
use crate::transport::stream::{ReadHalf, WriteHalf};
use tokio::io::{DuplexStream, duplex, split};

/// Both ends of a connection that holds so many bytes in each direction: of requests within `request`, of responses within `response`.
///
/// The end of one that is dropped is the close of the connection for the other; a reset is no more than that here.
#[must_use]
pub fn pipe(bytes: usize, request: Limits, response: Limits) -> (TcpServer, TcpClient) {
    let halves = |stream: DuplexStream| {
        let (read, write) = split(stream);
        (ReadHalf::Memory(read), WriteHalf::Memory(write))
    };
    let (server, client) = duplex(bytes);
    let ((read, write), (client_read, client_write)) = (halves(server), halves(client));
    (
        TcpServer::new(read, write, request),
        TcpClient::new(client_read, client_write, response),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::encode;
    use crate::codec::error::ReadError;

    #[tokio::test]
    async fn messages_pass_and_a_dropped_end_is_a_close() {
        let (mut server, mut client) = pipe(16, Limits::default(), Limits::default());
        // It is for one exchange: nobody keeps it for another.
        assert!(!client.is_idle());
        assert!(server.local().is_err());
        let sending = async {
            encode::request_line(client.output.buffer(), "GET", "/somewhere");
            encode::field(client.output.buffer(), "Host", "a.example");
            encode::end_head(client.output.buffer());
            client.output.flush().await.unwrap();
        };
        let (_, arrived) = tokio::join!(sending, server.requests.next_head());
        assert!(arrived.unwrap());
        assert_eq!(server.requests.head().path(), "/somewhere");
        server.reset();
        client.responses.expect(false);
        let ended = client.responses.next_head().await;
        assert!(matches!(ended, Err(ReadError::Closed)), "{ended:?}");
    }
}
