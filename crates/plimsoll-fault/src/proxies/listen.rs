//! Where a proxy listens, as the API writes it.

use crate::error::ApiError;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::time::timeout;

/// How long a name of this machine may take to be found: other requests wait meanwhile.
const LOOK_UP: Duration = Duration::from_secs(2);

/// Whether a listener of IPv6 is for that alone; missing where there is no IPv6.
const ONLY_V6: &str = "/proc/sys/net/ipv6/bindv6only";

/// The `listen` of a proxy without a listener of its own: its clients ask for its upstream by name.
pub const BY_CONNECT: &str = "connect";

/// A place to listen, resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// At an address.
    At(SocketAddr),
    /// Nowhere; clients ask for the server by name.
    ByConnect,
}

impl Place {
    /// As the API says it.
    pub fn text(self) -> String {
        match self {
            Self::At(address) => address.to_string(),
            Self::ByConnect => BY_CONNECT.to_owned(),
        }
    }
}

/// The place that `listen` names: `host:port`, or `:port` for all of this machine's addresses. Where Toxiproxy takes nothing at all for any
/// port of all addresses, this takes it for any port of loopback.
///
/// # Errors
/// It has no port, or its host has no address.
pub async fn place(listen: &str) -> Result<Place, ApiError> {
    if listen == BY_CONNECT {
        return Ok(Place::ByConnect);
    }
    if listen.is_empty() {
        return Ok(Place::At((Ipv4Addr::LOCALHOST, 0).into()));
    }
    let Some((host, port)) = listen.rsplit_once(':') else {
        return Err(ApiError::listen(listen, "missing port in address"));
    };
    if host.is_empty() {
        let port = port
            .parse()
            .map_err(|_| ApiError::listen(listen, "unknown port"))?;
        let only_v6 = std::fs::read_to_string(ONLY_V6).ok();
        return Ok(Place::At((every_address(only_v6.as_deref()), port).into()));
    }
    let local = format!("{}:{port}", Ipv4Addr::LOCALHOST);
    let literal = match host.eq_ignore_ascii_case("localhost") {
        true => local.parse(),
        false => listen.parse(),
    };
    if let Ok(address) = literal {
        return Ok(Place::At(address));
    }
    let found = timeout(LOOK_UP, tokio::net::lookup_host(listen)).await;
    let found = found.map_err(|_| ApiError::listen(listen, "the name is not found in time"))?;
    let found = found.map_err(|error| ApiError::listen(listen, error))?;
    let address = found.min_by_key(SocketAddr::is_ipv6);
    let address = address.ok_or_else(|| ApiError::listen(listen, "no suitable address"))?;
    Ok(Place::At(address))
}

/// The address for all of this machine's: that of IPv6 where it stands for both kinds (ipv6(7)), by the text of [`ONLY_V6`].
fn every_address(only_v6: Option<&str>) -> IpAddr {
    match only_v6.map(str::trim) {
        Some("0") => Ipv6Addr::UNSPECIFIED.into(),
        _ => Ipv4Addr::UNSPECIFIED.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_is_of_both_kinds_or_of_the_first() {
        for (text, expected) in [
            (Some("0\n"), "::"),
            (Some("1\n"), "0.0.0.0"),
            (None, "0.0.0.0"),
        ] {
            assert_eq!(every_address(text).to_string(), expected);
        }
    }

    #[tokio::test]
    async fn places_are_resolved() {
        for (listen, expected) in [
            ("", "127.0.0.1:0"),
            ("localhost:7070", "127.0.0.1:7070"),
            ("[::]:18080", "[::]:18080"),
            ("0.0.0.0:1", "0.0.0.0:1"),
            ("connect", "connect"),
        ] {
            assert_eq!(place(listen).await.unwrap().text(), expected, "{listen}");
        }
        let only_v6 = std::fs::read_to_string(ONLY_V6).ok();
        let everywhere = SocketAddr::new(every_address(only_v6.as_deref()), 18080);
        assert_eq!(place(":18080").await.unwrap(), Place::At(everywhere));
        for wrong in ["local373", "localhost:", ":http", "localhost:99999"] {
            assert_eq!(place(wrong).await.unwrap_err().status, 500, "{wrong}");
        }
    }
}
