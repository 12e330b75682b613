//! Which protocol a server speaks: with `-h2` hey leaves the choice to it. It is asked once, before the load, so that all connections are
//! of one kind.

use plimsoll_http::tls::{ClientTls, TlsSettings, TlsVersion, Trust};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long a server has to say what it speaks.
const LIMIT: Duration = Duration::from_secs(5);
/// Protocols that are offered, best first (RFC 9113, section 3.1; RFC 7301, section 6).
const OFFERED: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// Whether the server at this address chooses HTTP/2 over HTTP/1.1. One that cannot be asked does not: the load will say why.
pub async fn is_http2(address: SocketAddr, server_name: &str) -> bool {
    let chosen = timeout(LIMIT, chosen(address, server_name)).await;
    chosen.ok().flatten().as_deref() == Some(OFFERED[0])
}

async fn chosen(address: SocketAddr, server_name: &str) -> Option<Vec<u8>> {
    let client = ClientTls::new(TlsSettings {
        server_name,
        trust: Trust::Anybody,
        oldest: TlsVersion::Tls12,
        newest: TlsVersion::Tls13,
        alpn: &OFFERED,
        resumption: false,
    })
    .ok()?;
    let stream = TcpStream::connect(address).await.ok()?;
    let secured = client.connector(None).secure(stream).await.ok()?;
    let (_, session) = secured.get_ref();
    session.alpn_protocol().map(<[u8]>::to_vec)
}
