//! Clients that ask for a server by its name: by CONNECT (RFC 9110 §9.3.6), as programs do that are given `HTTPS_PROXY`, or in plaintext by the
//! absolute target of a request (RFC 9112 §3.2.2), as those do that are given `HTTP_PROXY`.
//!
//! A proxy in front of a server with TLS would break its certificate's name. A program that asks for the server by its name keeps it: TLS
//! goes through untouched. Only servers that a proxy of the API leads to may be asked for. A request in plaintext has its connections for
//! itself: the next one may be for another server.

mod request;

use crate::api::Api;
use crate::connection::{Exchange, Goes, Greeting};
use crate::direction::Direction;
use crate::proxies::{BY_CONNECT, Wanted};
use crate::shard::Adopted;
use bytes::Bytes;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_http::deadline::Watch;
use plimsoll_http::{Limits, RequestHead, Stream, TcpServer, encode};
use std::net::Ipv6Addr;
use std::rc::Rc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::Instant;

/// How long a client may take over its request, and over an answer that is not its server's.
const PATIENCE: Duration = Duration::from_secs(10);
/// The port of a server that is named without one.
const PORT: &str = "443";
/// The port of a server that the target of a request names without one.
const PLAINTEXT_PORT: &str = "80";

const UNREACHABLE: &[u8] =
    b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// The proxy of a server that may be asked for.
pub fn allowed(server: &str) -> Wanted {
    let upstream = match server.parse::<Ipv6Addr>() {
        Ok(address) => format!("[{address}]:{PORT}"),
        Err(_) => with_port(server, PORT),
    };
    Wanted {
        name: upstream.clone(),
        listen: BY_CONNECT.to_owned(),
        upstream,
        enabled: true,
    }
}

/// A server as `host:port`, with this port unless it has one.
fn with_port(server: &str, port: &str) -> String {
    let has_port = |(host, port): (&str, &str)| {
        !host.ends_with(':') && !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    };
    match server.rsplit_once(':').is_some_and(has_port) {
        true => server.to_owned(),
        false => format!("{}:{port}", server.trim_end_matches(':')),
    }
}

/// An answer that is not the server's: its status, and why.
type Refusal = (u16, String);

/// The wish of a client.
#[derive(Debug)]
struct Asked {
    /// The server, as `host:port`.
    server: String,
    way: Way,
}

#[derive(Debug)]
enum Way {
    /// Bytes of whatever protocol, both ways.
    Tunnel,
    /// An exchange, and the head that begins it for the server.
    Exchange(Box<Exchange>, Vec<u8>),
}

impl Asked {
    fn of(head: &RequestHead) -> Result<Self, Refusal> {
        let refused = |why: &str| (400, why.to_owned());
        if head.method() == "CONNECT" {
            return Ok(Self {
                server: head.target().to_owned(),
                way: Way::Tunnel,
            });
        }
        let scheme = head.target().split_once("://").map(|(scheme, _)| scheme);
        match scheme {
            Some(scheme) if scheme.eq_ignore_ascii_case("http") => {
                let exchange = Exchange::of(head).map_err(|error| refused(&error.to_string()))?;
                let why = "its Connection field names too many others";
                let first = request::forwarded(head).ok_or_else(|| refused(why))?;
                Ok(Self {
                    server: with_port(head.authority(), PLAINTEXT_PORT),
                    way: Way::Exchange(Box::new(exchange), first),
                })
            }
            Some(scheme) if scheme.eq_ignore_ascii_case("https") => {
                Err(refused("servers with TLS are asked for by CONNECT"))
            }
            _ => Err(refused(
                "this is a proxy: give it to programs as HTTP_PROXY or HTTPS_PROXY",
            )),
        }
    }

    /// The client, as the proxy of its server takes it over; none if it is gone, or its body is no body.
    fn adopted(self, connection: TcpServer) -> Option<Adopted> {
        let (stream, behind) = connection.into_stream();
        let Some(Stream::Clear(stream)) = stream else {
            return None;
        };
        let stream = stream.into_std().ok()?;
        Some(match self.way {
            Way::Tunnel => Adopted {
                stream,
                first: Bytes::from(behind),
                greeting: Greeting {
                    reached: b"HTTP/1.1 200 Connection established\r\n\r\n",
                    unreachable: UNREACHABLE,
                },
                exchange: None,
            },
            Way::Exchange(mut exchange, mut first) => {
                let Goes::Part(count) = exchange.follow(Direction::Upstream, &behind) else {
                    return None;
                };
                first.extend_from_slice(&behind[..count]);
                Adopted {
                    stream,
                    first: Bytes::from(first),
                    greeting: Greeting {
                        reached: b"",
                        unreachable: UNREACHABLE,
                    },
                    exchange: Some(exchange),
                }
            }
        })
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
    let (status, why) = match Asked::of(connection.requests.head()) {
        Err(refusal) => refusal,
        Ok(asked) => {
            let mut proxies = api.proxies.lock().await;
            let proxy = proxies.by_connect(&asked.server);
            match proxy.map(|proxy| proxy.id()) {
                Some(Some(id)) => {
                    if let Some(client) = asked.adopted(connection) {
                        proxies.adopt(id, client).await;
                    }
                    return;
                }
                Some(None) => (502, "this server is not to be reached now".to_owned()),
                None => (403, forbidden(&asked.server)),
            }
        }
    };
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

fn forbidden(server: &str) -> String {
    let server = plimsoll_base::visible::in_line(server);
    format!(
        "no proxy leads to {server}: start with --allow {server}, or add one that listens at `{BY_CONNECT}`"
    )
}
