//! A record with everything that it refers to: what every sink renders in its own form, and what the spool keeps.

use crate::phases::Phases;
use crate::tracing::Context;
use plimsoll_http::prefix;
use serde::{Deserialize, Serialize};

/// Follows a tag: a byte that no tag has.
pub(crate) const SEPARATOR: char = '\u{1f}';

/// One request. Times are microseconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry<'a> {
    /// The gateway that made it; together with `shard` and `number` there is no other record like it.
    pub(crate) origin: &'a str,
    pub(crate) shard: u64,
    pub(crate) number: u64,
    /// When the request's head had arrived, since 1970.
    pub(crate) arrived: u64,
    /// The path of its route, if one covers it.
    #[serde(borrow)]
    pub(crate) route: Option<&'a str>,
    #[serde(borrow)]
    pub(crate) api: Option<Api<'a>>,
    /// The hash of the key that was accepted.
    #[serde(borrow)]
    pub(crate) key: Option<&'a str>,
    pub(crate) method: &'a str,
    /// Normalised; as it came if it could not be.
    pub(crate) path: &'a str,
    /// The host that the client addressed.
    pub(crate) host: &'a str,
    pub(crate) agent: &'a str,
    /// The client's address.
    pub(crate) peer: &'a str,
    pub(crate) alias: &'a str,
    /// Each followed by [`SEPARATOR`].
    pub(crate) tags: &'a str,
    /// The status that was sent; 0 if nothing was.
    pub(crate) status: u16,
    pub(crate) aborted: bool,
    /// How it ended: a word of [`crate::ending::Ending`].
    pub(crate) ending: &'a str,
    /// As it was stated; -1: it was not.
    pub(crate) content_length: i64,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    /// The sum of the three below.
    pub(crate) total: u64,
    pub(crate) gateway: u64,
    pub(crate) upstream: u64,
    pub(crate) client: u64,
    pub(crate) phases: Option<Phases>,
    /// The request and the response as they came, in Base64; empty where they are not recorded.
    pub(crate) request: &'a str,
    pub(crate) response: &'a str,
    pub(crate) trace: Option<Context>,
}

/// The route as an API.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Api<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) organisation: &'a str,
    /// Host and port of its first endpoint.
    pub(crate) target: &'a str,
    /// Its path is not forwarded.
    pub(crate) strips: bool,
    /// Seconds; 0: never.
    pub(crate) expires_after: u64,
}

impl Entry<'_> {
    /// When it was over, microseconds since 1970.
    pub(crate) fn ended(&self) -> u64 {
        self.arrived + self.total
    }

    /// Its number among all records of all gateways.
    pub(crate) fn id(&self) -> String {
        format!("{}-{}-{}", self.origin, self.shard, self.number)
    }

    /// The path as the upstream has it, but for what is put before it.
    pub(crate) fn forwarded_path(&self) -> &str {
        match (self.route, self.api) {
            (Some(route), Some(api)) if api.strips => prefix::strip(route, self.path),
            _ => self.path,
        }
    }

    /// Tyk's tags: those of its key, then what names key, organisation and API.
    pub(crate) fn tyk_tags(&self) -> Vec<String> {
        let own = self.tags.split_terminator(SEPARATOR).map(str::to_owned);
        let api = self.api.unwrap_or_default();
        let key = self.key.map(|key| format!("key-{key}"));
        let organisation =
            (!api.organisation.is_empty()).then(|| format!("org-{}", api.organisation));
        let id = (!api.id.is_empty()).then(|| format!("api-{}", api.id));
        let trace = self
            .trace
            .map(|trace| format!("trace-id-{}", trace.trace_hex()));
        own.chain(key)
            .chain(organisation)
            .chain(id)
            .chain(trace)
            .collect()
    }
}
