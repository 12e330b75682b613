//! Who may talk to the admin listener: callers that address it by a known name and do not come from a foreign web page.
//!
//! The `Host` check defeats DNS rebinding, the `Origin` check cross-site requests; neither replaces credentials, which is
//! why the listener stays on loopback.

use super::refusal;
use plimsoll_http::RequestHead;
use plimsoll_http::authority::{host_of, names_loopback};
use plimsoll_http::pages::Page;
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
            return Some(refusal(421, "this host name is not on the allow-list"));
        }
        let origin = head.fields().get("origin")?;
        let host = std::str::from_utf8(origin).ok().and_then(|origin| {
            let (_, authority) = origin.split_once("://")?;
            Some(authority)
        });
        match host {
            Some(host) if self.knows(host) => None,
            _ => Some(refusal(403, "this origin may not use the admin listener")),
        }
    }

    fn knows(&self, authority: &str) -> bool {
        let host = host_of(authority);
        names_loopback(authority)
            || self
                .hosts
                .iter()
                .any(|known| known.eq_ignore_ascii_case(host))
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
            ("gateway.internal:9090", true),
            ("Gateway.Internal", true),
            ("evil.example", false),
        ] {
            assert_eq!(guard.knows(authority), expected, "{authority:?}");
        }
    }
}
