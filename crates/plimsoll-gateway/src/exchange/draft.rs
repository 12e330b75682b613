//! Draft of a request's record and span, made when it is admitted: when the exchange ends, it may be gone.

use super::admission::{Admitted, Refused};
use super::detail::Detail;
use super::progress::Progress;
use crate::config::Serves;
use crate::keys::KeyHash;
use crate::messages::secrecy::Secrecy;
use crate::policy::Policy;
use crate::policy::key::KeyIndex;
use crate::routing::service::{RecordSpec, Route, Service};
use crate::shard::client::Client;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_http::{Framing, fields};
use plimsoll_records::tracing::Context;
use plimsoll_records::{RecordWord, Words};
use serde_json::Value;
use std::sync::Arc;

/// The draft.
#[derive(Debug)]
pub(super) struct RecordDraft {
    pub(super) words: Words,
    pub(super) content_length: i64,
    /// A record is made of it.
    pub(super) recorded: bool,
    /// The span that is made of it.
    pub(super) span: Option<Context>,
}

/// Who calls, and by which route.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Caller {
    pub(super) route: Option<usize>,
    pub(super) key: Option<KeyIndex>,
    session: Option<KeyHash>,
}

impl Caller {
    pub(super) fn of(admitted: &Result<Admitted, Refused>) -> Self {
        match admitted {
            Ok(Admitted::Forward(plan)) => Self {
                route: Some(plan.route),
                key: plan.caller.key,
                session: plan.caller.session,
            },
            // Its requests are an API's, each for itself; it is none's.
            Ok(Admitted::Batch { .. }) => Self::default(),
            Ok(Admitted::Control { route }) => Self {
                route: Some(*route),
                ..Self::default()
            },
            Err(refused) => Self {
                route: refused.route,
                ..Self::default()
            },
        }
    }
}

/// Takes down what there is to say of the request that `client` has read, if a record or a span is made of it.
pub(super) fn draft(
    service: &Service,
    client: &mut Client,
    caller: Caller,
    progress: &Progress,
) -> Option<RecordDraft> {
    let route = caller.route.map(|route| &service.routes[route]);
    let spec = service.records.as_ref();
    let recorded = spec.is_some_and(|spec| records(spec, route, client));
    let span = client.scratch.span.take();
    if !recorded && span.is_none() {
        return None;
    }
    let mut words = std::mem::take(&mut client.scratch.words);
    words.clear();
    let head = client.connection.requests.head();
    words.put(RecordWord::Method, &client.scratch.method);
    // Only paths with parameters and details have what may be a secret.
    let secrecy = || Secrecy {
        key_field: (route.and_then(|route| route.key_field.as_ref()))
            .map(|field| field.name.clone()),
        added: Arc::clone(&service.redacted),
    };
    match client.scratch.path.contains(';') {
        true => words.put(RecordWord::Path, &secrecy().path(&client.scratch.path)),
        false => words.put(RecordWord::Path, &client.scratch.path),
    }
    if span.is_some() || spec.is_some_and(|spec| spec.wide) {
        words.put(RecordWord::Host, head.authority());
        let agent = head.fields().get("user-agent").unwrap_or_default();
        words.put(RecordWord::Agent, &String::from_utf8_lossy(agent));
        put_address(&mut words, client);
        if let Some((hash, route)) = caller.session.zip(route) {
            put_session(&mut words, hash, route);
        }
    }
    if let (Some(spec), Some(route), true) = (spec, route, recorded)
        && route.detailed
    {
        let detail = Detail::new(head, secrecy(), spec.body);
        progress
            .detail
            .set(Box::new(detail))
            .ignored("it has been begun already");
    }
    Some(RecordDraft {
        words,
        content_length: match head.framing() {
            Framing::None => 0,
            Framing::Length(bytes) => i64::try_from(bytes).unwrap_or(i64::MAX),
            Framing::Chunked | Framing::UntilClose => -1,
        },
        recorded,
        span,
    })
}

/// Whether a record is made of a request by this route.
fn records(spec: &RecordSpec, route: Option<&Route>, client: &Client) -> bool {
    let of_an_api = route.is_some_and(|route| route.serves != Serves::Control);
    (of_an_api || spec.unrouted)
        && !route.is_some_and(|route| route.unrecorded)
        && !spec.ignored.contains(&client.peer)
}

/// The client's address: the peer's, or what a trusted peer says of it last.
fn put_address(words: &mut Words, client: &Client) {
    let head = client.connection.requests.head();
    let forwarded = fields::list(head.fields(), "x-forwarded-for").last();
    let said = forwarded.filter(|_| client.trusted);
    match said.and_then(|said| std::str::from_utf8(said).ok()) {
        Some(said) => words.put(RecordWord::Peer, said),
        None => words.put(RecordWord::Peer, &client.peer),
    }
}

/// The key's hash, and what its session says of it.
fn put_session(words: &mut Words, hash: KeyHash, route: &Route) {
    words.put(RecordWord::Key, &hash.to_hex());
    let store = route.policies.iter().find_map(|policy| match policy {
        Policy::Session(session) => Some(&session.keys),
        Policy::Token(token) => Some(&token.session.keys),
        Policy::Key(_) | Policy::RateLimit(_) => None,
    });
    let Some(store) = store else { return };
    store.with(hash, |key| {
        if let Some(alias) = key.own("alias").and_then(Value::as_str) {
            words.put(RecordWord::Alias, alias);
        }
        for policy in key.policies() {
            words.tag("pol-", policy);
        }
        let tags = key.own("tags").and_then(Value::as_array);
        for tag in tags.into_iter().flatten().filter_map(Value::as_str) {
            words.tag("", tag);
        }
    });
}
