//! `toxiproxy`: a proxy of a running Toxiproxy makes what passes it slow, broken or silent.

use plimsoll_base::document::Path as Pointer;
use std::time::Duration;

use super::link::{self, Effect};
use super::{FaultKind, Scope, refuse_secrets};
use crate::Template;
use crate::component::is_http;
use crate::loader::Loader;
use crate::wire::FaultWire;

/// A wider bandwidth does not show in what a proof reads.
const MOST_BANDWIDTH: u64 = 100_000_000;

/// A proxy of somebody else's Toxiproxy, with what happens in it.
#[derive(Debug, Clone)]
pub struct ForeignProxy {
    /// The URL of the API.
    pub api: Template,
    /// Name of the proxy.
    pub proxy: String,
    /// Effect on what passes.
    pub effect: Effect,
    /// Bytes that make its server answer; empty where none are needed for a proof.
    pub request: Template,
}

impl ForeignProxy {
    /// The proxy in words.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{} at {}", self.proxy, self.api.source())
    }
}

pub(super) fn convert(
    loader: &mut Loader<'_>,
    api: &str,
    wire: &FaultWire,
    scope: &Scope<'_>,
    at: &Pointer,
) -> Option<FaultKind> {
    let key = at.key("toxiproxy");
    let api = loader.template(&key, api, Some(""));
    refuse_secrets(loader, &api, &key);
    if api.references().is_empty() && !is_http(&api.source()) {
        let message = "is not the URL of an API: write for instance `http://127.0.0.1:8474`";
        loader.refuse(&key, message);
    }
    if scope.network.is_some() {
        let message = "runs outside of the `network`, on a way that callers do not take: write `partition`, `loss` or `rst` between hosts, or remove `network`";
        loader.refuse(&key, message);
    }
    match wire.proxy.as_deref() {
        None => loader.refuse(at, "names no proxy: add `proxy`, such as `proxy: redis`"),
        Some(proxy) if !proxy.bytes().all(is_plain) || ["", ".", ".."].contains(&proxy) => {
            let message = "has characters that do not stand in a path: give the proxy a name of letters, digits, `-`, `.`, `_` and `~`";
            loader.refuse(at.key("proxy"), message);
        }
        Some(_) => {}
    }
    let effect = link::effect(loader, wire, at)?;
    if let Effect::Delay { delay, jitter } = &effect {
        for (key, time) in [("delay", delay), ("jitter", jitter)] {
            if !is_whole(*time) {
                let message = "is cut off by Toxiproxy, which knows milliseconds: write whole ones";
                loader.refuse(at.key(key), message);
            }
        }
    }
    if let Effect::Bandwidth(bytes) = effect
        && (!bytes.is_multiple_of(1000) || bytes > MOST_BANDWIDTH)
    {
        let message = "is not what Toxiproxy can limit and a proof can see: write whole kB, and at most 100MB";
        loader.refuse(at.key("bandwidth"), message);
    }
    let request = wire.request.as_deref().unwrap_or_default();
    let request = loader.template(&at.key("request"), request, Some(""));
    if request.parts().is_empty() && effect != Effect::Refuse {
        let message = "cannot be proved: add `request`, bytes that its server answers, such as `request: \"PING\\r\\n\"`";
        loader.refuse(at, message);
    }
    Some(FaultKind::Toxiproxy(ForeignProxy {
        api,
        proxy: wire.proxy.clone()?,
        effect,
        request,
    }))
}

/// Whether a byte stands for itself in a path (RFC 3986, 2.3).
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

fn is_whole(time: Duration) -> bool {
    time.subsec_nanos().is_multiple_of(1_000_000)
}
