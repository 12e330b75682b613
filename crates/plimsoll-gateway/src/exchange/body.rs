//! Bodies that are read whole, because the gateway itself answers the request.

use super::progress::Progress;
use crate::answering::answer::Answer;
use crate::shard::client::Client;
use plimsoll_http::{Elapsed, Framing, ReadError, encode};
use tokio::time::Instant;

/// Why a body is not there.
pub(super) enum Unread {
    /// It is answered instead.
    Refused(Answer),
    /// The client has gone.
    Broken,
}

/// The whole body of the request whose head `client` has read, of at most so many bytes.
pub(super) async fn read_body(
    client: &mut Client,
    progress: &Progress,
    most: usize,
) -> Result<Vec<u8>, Unread> {
    let head = client.connection.requests.head();
    if head.framing() == Framing::None {
        return Ok(Vec::new());
    }
    let expects = head.expects_continue();
    let mut body = Vec::new();
    let connection = &mut client.connection;
    let reading = async {
        if expects {
            let out = connection.output.buffer();
            encode::status_line(out, 100, None);
            encode::end_head(out);
            connection
                .output
                .flush()
                .await
                .map_err(|_| Unread::Broken)?;
        }
        loop {
            match connection.requests.next_data().await {
                Ok(Some(data)) if body.len() + data.len() > most => {
                    return Err(Unread::Refused(Answer::new(
                        413,
                        format!("a call's body has at most {} MiB", most >> 20),
                    )));
                }
                Ok(Some(data)) => body.extend_from_slice(data),
                Ok(None) => return Ok(()),
                Err(ReadError::Protocol(error)) => {
                    return Err(Unread::Refused(Answer::new(
                        error.status(),
                        error.to_string(),
                    )));
                }
                Err(ReadError::Closed | ReadError::Io(_)) => return Err(Unread::Broken),
            }
        }
    };
    let deadline: Instant = progress.deadline();
    match client.watch.until(|| deadline, reading).await {
        Ok(read) => read.map(|()| body),
        Err(Elapsed) => Err(Unread::Refused(Answer::new(
            408,
            "the call's body took too long",
        ))),
    }
}
