//! The policies of a route, and whether one route demands less than another.

use super::super::wire::secrets::SecretText;
use super::super::wire::{KeyBlock, KeyEntry, PoliciesBlock, RateLimitBlock, ScopeWord};
use super::super::{KeyConfig, RateLimitConfig, RouteConfig, Serves};
use super::{Checker, secrets};
use crate::messages::fields;
use crate::policy::key::Accepted;
use crate::policy::rate_limit::Scope;
use crate::policy::rules::Rules;
use plimsoll_base::digest::Digest;
use plimsoll_base::document::Path;
use plimsoll_http::decode::is_token;
use plimsoll_secrets::Purpose;
use plimsoll_secrets::Secret;

/// The key and rate-limit policies that a block states.
pub(super) fn policies(
    c: &mut Checker<'_>,
    at: &Path,
    block: Option<&PoliciesBlock>,
) -> (Option<KeyConfig>, Option<RateLimitConfig>) {
    let Some(block) = block else {
        return (None, None);
    };
    let key = block
        .key
        .as_ref()
        .map(|block| key(c, &at.key("key"), block));
    let rate_limit = block
        .rate_limit
        .as_ref()
        .map(|block| rate_limit(c, &at.key("rate_limit"), block, key.is_some()));
    (key, rate_limit)
}

fn key(c: &mut Checker<'_>, at: &Path, block: &KeyBlock) -> KeyConfig {
    let header = block.header.as_deref().unwrap_or("Authorization");
    if !is_token(header.as_bytes()) || fields::is_made_here(header) {
        let message = format!("a key cannot travel in `{header}`: write for instance `X-Api-Key`");
        c.refuse(at.key("header"), message);
    }
    if block.keys.is_empty() {
        c.refuse(at.key("keys"), "at least one key is needed");
    }
    let mut accepted: Vec<(Accepted, &str)> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for (index, entry) in block.keys.iter().enumerate() {
        let at = at.key("keys").index(index);
        if names.contains(&entry.name.as_str()) {
            c.refuse(
                at.key("name"),
                format!("a key named `{}` is listed already", entry.name),
            );
        }
        names.push(&entry.name);
        let Some(key) = accepted_key(c, &at, entry) else {
            continue;
        };
        match accepted.iter().find(|(known, _)| *known == key) {
            Some((_, first)) => c.refuse(at, format!("this is the same key as `{first}`")),
            None => accepted.push((key, &entry.name)),
        }
    }
    KeyConfig {
        header: header.to_owned(),
        hide: block.hide,
        keys: accepted.into_iter().map(|(key, _)| key).collect(),
    }
}

fn accepted_key(c: &mut Checker<'_>, at: &Path, entry: &KeyEntry) -> Option<Accepted> {
    match (&entry.key, &entry.sha256) {
        (Some(SecretText::Plain(key)), None) => match Purpose::Key.objection(key) {
            Some(message) => c.refuse(at, message),
            None => return Some(Accepted::Known(Digest::of(key.as_bytes()))),
        },
        (Some(written), None) => {
            return Some(
                match secrets::secret(c, &at.key("key"), written, Purpose::Key)? {
                    Secret::Fixed(key) => Accepted::Known(Digest::of(key.as_bytes())),
                    Secret::Cached(kept) => Accepted::Cached(kept),
                },
            );
        }
        (None, Some(hex)) => match Digest::from_hex(hex) {
            None => c.refuse(at, "`sha256` is 64 hexadecimal digits"),
            Some(digest) => return Some(Accepted::Known(digest)),
        },
        _ => c.refuse(at, "give the key as either `key` or `sha256`"),
    }
    None
}

fn rate_limit(
    c: &mut Checker<'_>,
    at: &Path,
    block: &RateLimitBlock,
    has_keys: bool,
) -> RateLimitConfig {
    let scope = match block.per {
        ScopeWord::Key => Scope::Key,
        ScopeWord::Route => Scope::Route,
    };
    if scope == Scope::Key && !has_keys {
        let message =
            "a limit per key needs `policies.key` on this route: add it, or write `per: route`";
        c.refuse(at.key("per"), message);
    }
    if block.burst == Some(0) {
        c.refuse(
            at.key("burst"),
            "0 would refuse every request: write at least 1",
        );
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rates are positive; the cast saturates"
    )]
    let one_second = block.rate.as_per_second().ceil() as u32;
    RateLimitConfig {
        rate: *block.rate,
        burst: block.burst.unwrap_or(one_second).max(1),
        scope,
    }
}

/// In which way `inner` demands less than `outer`, if it does.
pub(super) fn weaker(outer: &RouteConfig, inner: &RouteConfig) -> Option<&'static str> {
    if outer.serves == Serves::Shard && inner.serves != Serves::Shard {
        return Some("demands no certificate and is weaker");
    }
    match (&outer.key, &inner.key) {
        (Some(_), None) => return Some("demands no key and is weaker"),
        (Some(outer), Some(inner)) if !inner.keys.iter().all(|key| outer.keys.contains(key)) => {
            return Some("accepts more keys and is weaker");
        }
        _ => {}
    }
    let closes = |route: &RouteConfig| route.rules.as_ref().is_some_and(Rules::close_paths);
    if closes(outer) && !closes(inner) {
        return Some("closes no paths and is weaker");
    }
    match (&outer.rate_limit, &inner.rate_limit) {
        (Some(_), None) => Some("has no rate limit and is weaker"),
        (Some(outer), Some(inner)) => {
            let wider = outer.scope == Scope::Route && inner.scope == Scope::Key;
            (wider || inner.rate > outer.rate || inner.burst > outer.burst)
                .then_some("has a higher rate limit and is weaker")
        }
        (None, _) => None,
    }
}
