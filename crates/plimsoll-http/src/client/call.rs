//! One request over a connection of its own, within one deadline: over verified TLS, or in plaintext where the address says so.

use crate::codec::limits::Limits;
use crate::connection::TcpClient;
use crate::transport::stream::Stream;
use crate::transport::tls::{ClientTls, TlsSettings, TlsVersion, Trust};
use crate::url::Url;
use crate::{ConnectError, connect_stream, encode};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Interim answers before the final one.
const INTERIM: usize = 16;

/// A request.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// Its method; an answer to `HEAD` is not expected.
    pub method: &'static str,
    /// Whom it goes to. Of the addresses of a name, the first that accepts a connection.
    pub url: &'a Url,
    /// Beside `Host`, `Content-Length` and `Connection`.
    pub fields: &'a [(&'static str, String)],
    /// The body, sent behind the head.
    pub body: &'a [u8],
    /// Authorities (PEM) in place of the host's own, for `https`.
    pub authorities: Option<&'a str>,
    /// How long it may take as a whole.
    pub patience: Duration,
    /// Limits of the answer that is read.
    pub limits: Limits,
}

/// An answer, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// From 200 on.
    pub status: u16,
    /// `None` where it broke off, was longer than the limits, or came too late.
    pub body: Option<Vec<u8>>,
}

/// Calls, and takes the answer.
///
/// # Errors
/// A clause that says why there is none.
pub async fn call(call: &Call<'_>) -> Result<Answer, String> {
    let deadline = Instant::now() + call.patience;
    let asked = timeout_at(deadline, ask(call)).await;
    let late = |_| Err(format!("no answer within {} s", call.patience.as_secs()));
    let mut connection = asked.unwrap_or_else(late)?;
    let status = connection.responses.head().status();
    let mut body = Vec::new();
    let reading = connection.responses.read_body(&mut body);
    let is_whole = matches!(timeout_at(deadline, reading).await, Ok(Ok(())));
    Ok(Answer {
        status,
        body: is_whole.then_some(body),
    })
}

/// A connection on which the head of the final answer has been read.
async fn ask(call: &Call<'_>) -> Result<TcpClient, String> {
    let mut connection = TcpClient::from_stream(connect(call).await?, call.limits);
    let out = connection.output.buffer();
    encode::request_line(out, call.method, &call.url.target);
    encode::field(out, "Host", &call.url.authority);
    for (name, value) in call.fields {
        encode::field(out, name, value);
    }
    encode::content_length(out, call.body.len() as u64);
    encode::field(out, "Connection", "close");
    encode::end_head(out);
    out.extend_from_slice(call.body);
    let sent = connection.output.flush().await;
    sent.map_err(|error| error.to_string())?;
    connection.responses.expect(false);
    for _ in 0..=INTERIM {
        let head = connection.responses.next_head().await;
        head.map_err(|error| format!("no answer: {error}"))?;
        if connection.responses.head().status() >= 200 {
            return Ok(connection);
        }
    }
    Err("there are only interim answers".to_owned())
}

/// A connection to the first address that accepts one.
async fn connect(call: &Call<'_>) -> Result<Stream, String> {
    let Url { host, port, .. } = call.url;
    let found = tokio::net::lookup_host((host.as_str(), *port)).await;
    let found = found.map_err(|error| format!("{host}: {error}"))?;
    let mut failure = format!("{host} has no address");
    for address in found {
        match connect_stream(address, None).await {
            Ok(stream) => return secure(call, stream).await,
            Err(ConnectError::TimedOut) => "connecting timed out".clone_into(&mut failure),
            Err(error) => failure = error.to_string(),
        }
    }
    Err(failure)
}

async fn secure(call: &Call<'_>, stream: tokio::net::TcpStream) -> Result<Stream, String> {
    if call.url.scheme == "http" {
        return Ok(Stream::Clear(stream));
    }
    let tls = ClientTls::new(TlsSettings {
        server_name: &call.url.host,
        trust: call.authorities.map_or(Trust::System, Trust::Authorities),
        oldest: TlsVersion::Tls12,
        newest: TlsVersion::Tls13,
        alpn: &[b"http/1.1"],
        resumption: false,
    });
    let tls = tls.map_err(|error| error.to_string())?;
    let secured = tls.connector(None).secure(stream).await;
    let secured = secured.map_err(|error| error.to_string())?;
    Ok(Stream::Tls(Box::new(secured)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::ignored::Ignored as _;
    use plimsoll_testbed::authority::Authority;
    use plimsoll_testbed::peers::tls_server::{Manner, config};
    use rustls::{ServerConnection, StreamOwned};
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    /// A server over TLS for so many calls, which answers each with 200 and the call's first line.
    fn server(authority: &Authority, calls: usize) -> Url {
        let manner = Manner {
            versions: &[&rustls::version::TLS13],
            alpn: &["http/1.1"],
            asks: false,
            expired: false,
        };
        let config = config(authority, manner).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for _ in 0..calls {
                let (stream, _) = listener.accept().unwrap();
                let session = ServerConnection::new(config.clone()).unwrap();
                let mut stream = StreamOwned::new(session, stream);
                let mut head = Vec::new();
                let mut byte = [0];
                // A client that trusts nobody here says so in the handshake, and goes.
                while !head.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).is_ok() {
                    head.push(byte[0]);
                }
                let text = String::from_utf8_lossy(&head).into_owned();
                let line = text.lines().next().unwrap_or_default();
                let length = line.len();
                let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{line}");
                stream.write_all(answer.as_bytes()).ignored("it has gone");
            }
        });
        Url::parse(&format!("https://localhost:{port}")).unwrap()
    }

    #[tokio::test]
    async fn a_server_that_is_not_trusted_gets_no_call() {
        let (authority, other) = (Authority::new().unwrap(), Authority::new().unwrap());
        let url = server(&authority, 2);
        let ask = async |authorities: &Authority| {
            call(&Call {
                method: "POST",
                url: &url,
                fields: &[("X-Token", "secret".to_owned())],
                body: b"{}",
                authorities: Some(authorities.certificate()),
                patience: Duration::from_secs(9),
                limits: Limits::default(),
            })
            .await
        };
        let refused = ask(&other).await.map(|answer| answer.status).unwrap_err();
        assert!(
            refused.starts_with("the server's certificate does not hold"),
            "{refused}"
        );
        let answer = ask(&authority).await.unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(
            (answer.status, answer.body.as_deref()),
            (200, Some(&b"POST / HTTP/1.1"[..]))
        );
    }
}
