//! One GET over a connection that its caller has made, over TCP or a unix socket: of a component that may be ready, an exporter, or the
//! engine of containers. Deadlines are the caller's.

use plimsoll_http::{ClientConnection, Limits, ReadError, encode};
use std::fmt::Display;
use tokio::io::{AsyncRead, AsyncWrite};

/// Limits of an answer. Nobody who is asked says more.
const LIMITS: Limits = Limits {
    head_bytes: 32 * 1024,
    fields: 100,
    target_bytes: 8 * 1024,
    body_bytes: 16 * 1024 * 1024,
    trailer_bytes: 8 * 1024,
};

/// The final answer of a GET, of which the head has been read.
pub(crate) struct Answer<S> {
    connection: ClientConnection<tokio::io::ReadHalf<S>, tokio::io::WriteHalf<S>>,
}

/// Asks, and waits for the head of the final answer.
///
/// # Errors
/// Why there is none, in words.
pub(crate) async fn get<S>(stream: S, host: &str, path: &str) -> Result<Answer<S>, String>
where
    S: AsyncRead + AsyncWrite,
{
    let (read, write) = tokio::io::split(stream);
    let mut connection = ClientConnection::new(read, write, LIMITS);
    let out = connection.output.buffer();
    encode::request_line(out, "GET", path);
    encode::field(out, "Host", host);
    encode::field(out, "Accept", "*/*");
    encode::field(out, "Connection", "close");
    encode::end_head(out);
    connection.output.flush().await.map_err(|e| e.to_string())?;
    connection.responses.expect(false);
    loop {
        connection.responses.next_head().await.map_err(told)?;
        if connection.responses.head().status() >= 200 {
            return Ok(Answer { connection });
        }
    }
}

impl<S: AsyncRead + AsyncWrite> Answer<S> {
    /// The status, from 200 on.
    pub(crate) fn status(&self) -> u16 {
        self.connection.responses.head().status()
    }

    /// The value of a header field.
    pub(crate) fn field(&self, name: &str) -> Option<String> {
        let head = self.connection.responses.head();
        let mut fields = head.fields().iter();
        let (_, value) = fields.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(String::from_utf8_lossy(value).into_owned())
    }

    /// The body. Bytes that are not UTF-8 are replaced.
    ///
    /// # Errors
    /// Why it is not whole, in words.
    pub(crate) async fn body(mut self) -> Result<String, String> {
        let mut body = Vec::new();
        let read = self.connection.responses.read_body(&mut body).await;
        read.map_err(told)?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }
}

fn told(error: ReadError) -> String {
    match error {
        ReadError::Protocol(error) => not_http(error),
        ReadError::Closed => not_http("it ends inside a message"),
        ReadError::Io(error) => error.to_string(),
    }
}

fn not_http(why: impl Display) -> String {
    format!("its answer is not HTTP: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    async fn check(answer: &str, expected: Result<(u16, &str), &str>) {
        let (client, mut server) = duplex(1024);
        server.write_all(answer.as_bytes()).await.unwrap();
        server.shutdown().await.unwrap();
        let asked = async {
            let answer = get(client, "a:1", "/metrics").await?;
            Ok((answer.status(), answer.body().await?))
        };
        let asked: Result<(u16, String), String> = asked.await;
        let asked = asked
            .as_ref()
            .map(|(status, body)| (*status, body.as_str()));
        assert_eq!(asked.map_err(String::as_str), expected, "{answer}");
        let mut request = String::new();
        server.read_to_string(&mut request).await.unwrap();
        let line = "GET /metrics HTTP/1.1\r\nHost: a:1\r\n";
        assert!(request.starts_with(line), "{request}");
    }

    #[tokio::test]
    async fn answers() {
        check("HTTP/1.0 200 OK\r\nA: b\r\n\r\nup 1\n", Ok((200, "up 1\n"))).await;
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nup\r\n0\r\n\r\n";
        check(chunked, Ok((200, "up"))).await;
        check("HTTP/1.1 404 Not Found\r\n\r\n", Ok((404, ""))).await;
        let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n";
        check(interim, Ok((204, ""))).await;
        let closed = Err("its answer is not HTTP: it ends inside a message");
        check("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nup", closed).await;
        check("", closed).await;
        let malformed = Err("its answer is not HTTP: malformed status line");
        check("SSH-2.0-x\r\n", malformed).await;
    }
}
