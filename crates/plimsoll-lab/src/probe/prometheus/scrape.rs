//! One GET, by HTTP/1.0: an answer of that version is never in chunks, and ends with its connection.

use crate::experiment::PrometheusProbe;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long one may take.
const WITHIN: Duration = Duration::from_secs(5);
/// No exporter says more.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The body of the answer.
pub(super) async fn get(probe: &PrometheusProbe) -> Result<String, String> {
    match timeout(WITHIN, exchange(probe)).await {
        Ok(Ok(answer)) => body(&answer),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("no answer within {} s", WITHIN.as_secs())),
    }
}

async fn exchange(probe: &PrometheusProbe) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect((probe.host.as_str(), probe.port)).await?;
    let (path, host) = (&probe.path, probe.authority());
    let request = format!("GET {path} HTTP/1.0\r\nHost: {host}\r\nAccept: text/plain\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    while answer.len() < MOST_BYTES && stream.read_buf(&mut answer).await? > 0 {}
    Ok(answer)
}

fn body(answer: &[u8]) -> Result<String, String> {
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
    match status {
        "200" => Ok(body.to_owned()),
        other => Err(format!("it answers with status {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers() {
        let check = |answer: &str, expected: Result<&str, &str>| {
            let actual = body(answer.as_bytes());
            assert_eq!(actual.as_deref().map_err(String::as_str), expected);
        };
        check("HTTP/1.0 200 OK\r\nA: b\r\n\r\nup 1\n", Ok("up 1\n"));
        check(
            "HTTP/1.1 404 Not Found\r\n\r\n",
            Err("it answers with status 404"),
        );
        check("SSH-2.0-x\r\n", Err("its answer is not HTTP"));
    }
}
