//! Clients that ask for a server by CONNECT (RFC 9110 §9.3.6), as programs do that are given `HTTPS_PROXY`.
//!
//! A proxy in front of a server with TLS would break its certificate's name. A program that asks for the server by its name keeps it: TLS
//! goes through untouched. Only servers that a proxy of the API leads to may be asked for.

use crate::api::Api;
use crate::connection::Greeting;
use crate::proxies::{BY_CONNECT, Wanted};
use crate::shard::Adopted;
use bytes::Bytes;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_http::deadline::Watch;
use plimsoll_http::{Limits, Stream, TcpServer, encode};
use std::net::Ipv6Addr;
use std::rc::Rc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::Instant;

/// How long a client may take over its request, and over an answer that is not its server's.
const PATIENCE: Duration = Duration::from_secs(10);
/// The port of a server that is named without one.
const PORT: &str = "443";

const GREETING: Greeting = Greeting {
    reached: b"HTTP/1.1 200 Connection established\r\n\r\n",
    unreachable: b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
};

/// The proxy of a server that may be asked for.
pub fn allowed(server: &str) -> Wanted {
    let has_port = |(host, port): (&str, &str)| {
        !host.ends_with(':') && !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    };
    let upstream = match (server.parse::<Ipv6Addr>(), server.rsplit_once(':')) {
        (Ok(address), _) => format!("[{address}]:{PORT}"),
        (Err(_), Some(parts)) if has_port(parts) => server.to_owned(),
        (Err(_), _) => format!("{}:{PORT}", server.trim_end_matches(':')),
    };
    Wanted {
        name: upstream.clone(),
        listen: BY_CONNECT.to_owned(),
        upstream,
        enabled: true,
    }
}

/// Hears out a client, and gives it to the proxy that leads where it wants to go.
pub async fn admit(client: TcpStream, api: Rc<Api>) {
    let mut connection = TcpServer::from_stream(client, Limits::default());
    let mut watch = Watch::new(Instant::now() + PATIENCE);
    let heard = watch
        .within(PATIENCE, connection.requests.next_head())
        .await;
    if !matches!(heard, Ok(Ok(true))) {
        return;
    }
    let head = connection.requests.head();
    let refusal = if head.method() == "CONNECT" {
        let mut proxies = api.proxies.lock().await;
        let proxy = proxies.by_connect(head.target());
        match proxy.map(|proxy| proxy.id()) {
            Some(Some(id)) => {
                let (stream, first) = connection.into_stream();
                if let Some(Stream::Clear(stream)) = stream
                    && let Ok(stream) = stream.into_std()
                {
                    let client = Adopted {
                        stream,
                        first: Bytes::from(first),
                        greeting: GREETING,
                    };
                    proxies.adopt(id, client).await;
                }
                return;
            }
            Some(None) => (502, "this server is not to be reached now".to_owned()),
            None => {
                let server = plimsoll_base::visible::in_line(head.target());
                let why = format!(
                    "no proxy leads to {server}: start with --allow {server}, or add one that listens at `{BY_CONNECT}`"
                );
                (403, why)
            }
        }
    } else {
        let why = "this proxy takes CONNECT alone: give it to programs as HTTPS_PROXY";
        (405, why.to_owned())
    };
    let (status, why) = refusal;
    let out = connection.output.buffer();
    encode::status_line(out, status, None);
    encode::field(out, "Content-Type", "text/plain; charset=utf-8");
    encode::field(out, "Connection", "close");
    encode::content_length(out, why.len() as u64 + 1);
    encode::end_head(out);
    out.extend_from_slice(format!("{why}\n").as_bytes());
    let told = watch.within(PATIENCE, connection.output.flush()).await;
    told.map(drop)
        .map_err(drop)
        .ignored("a client that does not listen need not be told");
}
