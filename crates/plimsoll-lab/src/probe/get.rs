//! One GET, by HTTP/1.0: an answer of that version is never in chunks, and ends with its connection.

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Nobody who is asked says more.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// Three digits.
    pub(super) status: String,
    pub(super) body: String,
}

/// Asks over a connection that is made for it.
///
/// # Errors
/// Why there is no answer, in words.
pub(super) async fn get<S>(mut stream: S, host: &str, path: &str) -> Result<Answer, String>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let request = format!("GET {path} HTTP/1.0\r\nHost: {host}\r\nAccept: */*\r\n\r\n");
    let exchange = async {
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        while answer.len() < MOST_BYTES && stream.read_buf(&mut answer).await? > 0 {}
        Ok(answer)
    };
    let answer: std::io::Result<Vec<u8>> = exchange.await;
    parse(&answer.map_err(|error| error.to_string())?)
}

fn parse(answer: &[u8]) -> Result<Answer, String> {
    if answer.len() >= MOST_BYTES {
        return Err(format!("its answer is longer than {MOST_BYTES} bytes"));
    }
    let text = String::from_utf8_lossy(answer);
    let (head, body) = text
        .split_once("\r\n\r\n")
        .ok_or("its answer is not HTTP")?;
    let line = head.lines().next().unwrap_or_default();
    let status = line
        .strip_prefix("HTTP/1.")
        .and_then(|rest| rest.split(' ').nth(1))
        .ok_or("its answer is not HTTP")?;
    Ok(Answer {
        status: status.to_owned(),
        body: body.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers() {
        let check = |answer: &str, expected: Result<(&str, &str), &str>| {
            let actual = parse(answer.as_bytes());
            let actual = actual
                .as_ref()
                .map(|it| (it.status.as_str(), it.body.as_str()));
            assert_eq!(actual.map_err(String::as_str), expected);
        };
        check(
            "HTTP/1.0 200 OK\r\nA: b\r\n\r\nup 1\n",
            Ok(("200", "up 1\n")),
        );
        check("HTTP/1.1 404 Not Found\r\n\r\n", Ok(("404", "")));
        check("SSH-2.0-x\r\n", Err("its answer is not HTTP"));
    }
}
