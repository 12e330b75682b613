//! One exchange on an open connection: the request out, the answer in, both at once.

use super::request::Prepared;
use plimsoll_base::outcome::Outcome;
use plimsoll_http::connection::ResponseReader;
use plimsoll_http::{ReadError, TcpClient};
use std::future::{Future as _, poll_fn};
use std::pin::pin;
use tokio::io::AsyncRead;

/// How an exchange ended that ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) outcome: Outcome,
    /// Bytes of the answer's body.
    pub(super) body_bytes: u64,
}

/// Sends a request and reads its answer to the end. The answer may come before the request is out; the connection is of no
/// further use then, nor after any outcome but an answer.
pub(super) async fn exchange(connection: &mut TcpClient, request: &Prepared) -> Ending {
    let TcpClient { responses, output } = connection;
    output.buffer().extend_from_slice(&request.bytes);
    responses.expect(request.is_head);
    let mut body_bytes = 0;
    let received = {
        let mut sending = pin!(output.flush());
        let mut sent = false;
        let mut receiving = pin!(receive(responses, &mut body_bytes));
        poll_fn(|context| {
            // An error of sending shows on reading too: as the answer that the server gave before it closed, or as a reset.
            sent = sent || sending.as_mut().poll(context).is_ready();
            receiving.as_mut().poll(context)
        })
        .await
    };
    let outcome = match received {
        Ok(()) => Outcome::Answered(connection.responses.head().status()),
        Err(ReadError::Protocol(_)) => Outcome::Malformed,
        Err(ReadError::Closed | ReadError::Io(_)) => Outcome::Reset,
    };
    Ending {
        outcome,
        body_bytes,
    }
}

async fn receive<R: AsyncRead + Unpin>(
    responses: &mut ResponseReader<R>,
    body_bytes: &mut u64,
) -> Result<(), ReadError> {
    responses.next_head().await?;
    while matches!(responses.head().status(), 100 | 102..200) {
        responses.next_head().await?;
    }
    while let Some(data) = responses.next_data().await? {
        *body_bytes += data.len() as u64;
    }
    Ok(())
}
