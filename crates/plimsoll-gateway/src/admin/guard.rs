//! Who may talk to the admin listener: callers that address it by a known name and do not come from a foreign web page.
//!
//! The `Host` check defeats DNS rebinding, the `Origin` check cross-site requests; neither replaces credentials, which is
//! why the listener stays on loopback.

use super::Page;
use plimsoll_http::RequestHead;
use std::net::IpAddr;
use std::sync::Arc;

/// The allow-list of host names.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    /// Lower case, besides `localhost` and loopback addresses.
    hosts: Arc<[String]>,
}

impl Guard {
    pub(super) fn new(hosts: &[String]) -> Self {
        Self {
            hosts: hosts.into(),
        }
    }

    /// The refusal of a request, if it is refused.
    pub(super) fn check(&self, head: &RequestHead) -> Option<Page> {
        if !self.knows(head.authority()) {
            return Some(Page::error(421, "this host name is not on the allow-list"));
        }
        let origin = head.fields().get("origin")?;
        let host = std::str::from_utf8(origin).ok().and_then(|origin| {
            let (_, authority) = origin.split_once("://")?;
            Some(authority)
        });
        match host {
            Some(host) if self.knows(host) => None,
            _ => Some(Page::error(
                403,
                "this origin may not use the admin listener",
            )),
        }
    }

    fn knows(&self, authority: &str) -> bool {
        let host = match authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
            _ => authority,
        };
        let host = host.to_ascii_lowercase();
        let address = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost"
            || self.hosts.contains(&host)
            || address.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_names() {
        let guard = Guard::new(&["gateway.internal".to_owned()]);
        for (authority, expected) in [
            ("localhost", true),
            ("LOCALHOST:9090", true),
            ("127.0.0.1:9090", true),
            ("127.1.2.3", true),
            ("[::1]:9090", true),
            ("gateway.internal:9090", true),
            ("evil.example", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("192.168.0.1:9090", false),
            ("", false),
        ] {
            assert_eq!(guard.knows(authority), expected, "{authority:?}");
        }
    }
}
