//! One call of an API over a connection of its own, within one deadline: over verified TLS, or in clear where the address says so.

use plimsoll_http::tls::{ClientTls, TlsSettings, TlsVersion, Trust};
use plimsoll_http::{ConnectError, Limits, Stream, TcpClient, Url, connect_stream, encode};
use std::time::Duration;

/// How long a call may take as a whole. Nobody but the keeper waits for it.
const DEADLINE: Duration = Duration::from_secs(5);
/// Interim answers before the final one.
const INTERIM: usize = 16;
/// What is read of an answer: a secret has up to 64 KiB, which as JSON may take six times as much.
const LIMITS: Limits = Limits {
    head_bytes: 16 * 1024,
    fields: 100,
    target_bytes: 1024,
    body_bytes: 512 * 1024,
    trailer_bytes: 1024,
};

/// A request.
pub(super) struct Call<'a> {
    pub(super) method: &'static str,
    pub(super) url: &'a Url,
    /// Beside `Host`, `Content-Length` and `Connection`.
    pub(super) fields: &'a [(&'static str, String)],
    pub(super) body: &'a [u8],
    /// Authorities (PEM) in place of the host's own.
    pub(super) authorities: Option<&'a str>,
}

/// What was answered.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

/// Calls, and takes the answer whole; says in a few words why there is none.
pub(super) async fn call(call: &Call<'_>) -> Result<Answer, String> {
    let seconds = DEADLINE.as_secs();
    tokio::time::timeout(DEADLINE, exchange(call))
        .await
        .unwrap_or_else(|_| Err(format!("no answer within {seconds} s")))
}

async fn exchange(call: &Call<'_>) -> Result<Answer, String> {
    let mut connection = TcpClient::from_stream(connect(call).await?, LIMITS);
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
    for _ in 0..INTERIM {
        let head = connection.responses.next_head().await;
        head.map_err(|error| error.to_string())?;
        let status = connection.responses.head().status();
        if status >= 200 {
            let mut body = Vec::new();
            let read = connection.responses.read_body(&mut body).await;
            read.map_err(|error| error.to_string())?;
            return Ok(Answer { status, body });
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
    use plimsoll_testbed::authority::Authority;
    use plimsoll_testbed::tls_server::{Manner, config};
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
                if stream.write_all(answer.as_bytes()).is_err() {
                    // It has gone.
                }
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
            (answer.status, answer.body.as_slice()),
            (200, &b"POST / HTTP/1.1"[..])
        );
    }
}
