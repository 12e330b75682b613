//! Switching to another protocol (RFC 9110 §7.8): what of a client's offer is passed on, and which 101 is an answer to it.
//!
//! Until a 101 has come, everything is HTTP: what the client sends behind such a request is its next one. What happens after it is
//! the exchange's.

use crate::routing::service::Route;
use plimsoll_http::{
    ConnectionOptions, Framing, RequestHead, ResponseHead, Version, encode, fields,
};

/// Puts the protocols that a request offers and its route lets pass into `offered`, as a list. A request with a body offers nothing: where it
/// would end, and the protocol begin, is too easily seen in two ways.
pub(crate) fn offer(
    offered: &mut String,
    head: &RequestHead,
    route: &Route,
    options: &ConnectionOptions<'_>,
) {
    offered.clear();
    if !may_switch(head, route, options) {
        return;
    }
    for protocol in fields::list(head.fields(), "upgrade") {
        let known = |name: &&String| name.as_bytes().eq_ignore_ascii_case(protocol);
        if let Some(name) = route.upgrades.iter().find(known)
            && !has(offered, protocol)
        {
            if !offered.is_empty() {
                offered.push_str(", ");
            }
            offered.push_str(name);
        }
    }
}

/// Whether a request may lead to another protocol: what is done then is more than its method says.
pub(crate) fn may_switch(
    head: &RequestHead,
    route: &Route,
    options: &ConnectionOptions<'_>,
) -> bool {
    !route.upgrades.is_empty()
        && options.name("upgrade")
        && head.version() == Version::Http11
        && head.method() == "GET"
        && head.framing() == Framing::None
}

/// Writes the offer, or what was chosen of it.
pub(crate) fn write(out: &mut Vec<u8>, protocols: impl AsRef<[u8]>) {
    encode::field(out, "Connection", "Upgrade");
    encode::field(out, "Upgrade", protocols);
}

/// The protocol that a 101 switches to; `None` if it is not one of the `offered`, or if that is not said as it must be.
pub(crate) fn chosen<'a>(offered: &str, head: &'a ResponseHead) -> Option<&'a [u8]> {
    let mut protocols = fields::list(head.fields(), "upgrade");
    let (Some(protocol), None) = (protocols.next(), protocols.next()) else {
        return None;
    };
    let said = ConnectionOptions::of(head.fields()).name("upgrade");
    (said && has(offered, protocol)).then_some(protocol)
}

fn has(list: &str, protocol: &[u8]) -> bool {
    list.split(", ")
        .any(|own| own.as_bytes().eq_ignore_ascii_case(protocol))
}
