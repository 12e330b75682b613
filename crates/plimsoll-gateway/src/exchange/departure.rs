//! Departure of a client whose exchange waits for somebody else.

use crate::config::HalfClose;
use plimsoll_http::RequestReader;
use plimsoll_http::stream::ReadHalf;
use std::io::ErrorKind;

/// Waits until the client has left whose request has been read whole. One that has sent more by then is not watched any further: what
/// lies behind it would have to be read first.
pub(super) async fn wait(requests: &mut RequestReader<ReadHalf>, half_close: HalfClose) {
    let has_left = match requests.arrives().await {
        Ok(true) => false,
        Ok(false) => half_close == HalfClose::Abort,
        // TLS has not said that nothing more comes, and the connection has.
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => half_close == HalfClose::Abort,
        Err(_) => true,
    };
    if !has_left {
        std::future::pending::<()>().await;
    }
}
