//! Tyk's session object (`user/session.go`): from JSON to terms and a key's own, and back.

use super::terms::{Figures, Grant};
use crate::tyk::fields;
use deserr::Deserr;
use plimsoll_base::document::{Document, Entries, Nulls, Path, Problems, Rules};
use serde_json::{Map, Value};

/// Fields that belong to one key and not to all that share its terms.
const OWN: [&str; 6] = [
    "alias",
    "date_created",
    "last_updated",
    "meta_data",
    "tags",
    "data_expires",
];
/// Fields that are kept as numbers beside the terms.
const KEPT_APART: [&str; 4] = ["expires", "quota_remaining", "quota_renews", "key_id"];

/// A session that was read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Session {
    pub(crate) grant: Grant,
    /// What many keys have in common, as written.
    pub(crate) shape: Map<String, Value>,
    /// What is this key's own, as written.
    pub(crate) own: Map<String, Value>,
    /// Seconds since 1970; 0: never.
    pub(crate) expires: u32,
    /// What is left of its quota until when, if it says so.
    pub(crate) quota: Option<(i64, u32)>,
}

#[derive(Debug, Deserr)]
struct Wire {
    #[deserr(default)]
    rate: Option<f64>,
    #[deserr(default)]
    per: Option<f64>,
    #[deserr(default)]
    quota_max: Option<i64>,
    #[deserr(default)]
    quota_renewal_rate: Option<i64>,
    #[deserr(default)]
    quota_remaining: Option<i64>,
    #[deserr(default)]
    quota_renews: Option<i64>,
    #[deserr(default)]
    expires: Option<i64>,
    #[deserr(default)]
    access_rights: Option<Entries<AccessWire>>,
    #[deserr(default)]
    is_inactive: Option<bool>,
    #[deserr(default)]
    apply_policies: Option<Vec<String>>,
    #[deserr(default)]
    apply_policy_id: Option<String>,
}

/// What one API grants.
#[derive(Debug, Deserr)]
pub(crate) struct AccessWire {
    #[deserr(default)]
    limit: Option<LimitWire>,
}

#[derive(Debug, Deserr)]
struct LimitWire {
    #[deserr(default)]
    rate: Option<f64>,
    #[deserr(default)]
    per: Option<f64>,
    #[deserr(default)]
    quota_max: Option<i64>,
    #[deserr(default)]
    quota_renewal_rate: Option<i64>,
}

/// Access rights as a session or a policy writes them.
pub(crate) fn access(written: Option<Entries<AccessWire>>) -> Vec<(String, Figures)> {
    let entries = written.unwrap_or_default().0.into_iter();
    entries
        .map(|(api, access)| {
            let limit = access.limit.map(|limit| Figures {
                rate: limit.rate.unwrap_or(0.0),
                per: limit.per.unwrap_or(0.0),
                quota_max: limit.quota_max.unwrap_or(0),
                quota_renewal: limit.quota_renewal_rate.unwrap_or(0),
            });
            (api, limit.unwrap_or_default())
        })
        .collect()
}

/// Reads a session.
///
/// # Errors
/// Fields of the wrong type, fields that restrict and are not supported, figures beyond what can be counted.
pub(crate) fn read(document: &Document) -> Result<Session, Problems> {
    fields::judge(fields::SESSION, document).refused_only()?;
    let rules = Rules {
        nulls: Nulls::Allowed,
        ..Rules::default()
    };
    let wire: Wire = document.decode_with(rules)?;
    let mut policies = wire.apply_policies.unwrap_or_default();
    if policies.is_empty() {
        policies.extend(wire.apply_policy_id.filter(|id| !id.is_empty()));
    }
    let grant = Grant {
        inactive: wire.is_inactive.unwrap_or(false),
        figures: Figures {
            rate: wire.rate.unwrap_or(0.0),
            per: wire.per.unwrap_or(0.0),
            quota_max: wire.quota_max.unwrap_or(0),
            quota_renewal: wire.quota_renewal_rate.unwrap_or(0),
        },
        access: access(wire.access_rights),
        policies,
    };
    beyond(document, &Path::root(), &grant).or_ok(())?;
    let (mut shape, mut own) = (Map::new(), Map::new());
    if let Value::Object(fields) = document.to_json() {
        for (name, value) in fields {
            match &*name {
                apart if KEPT_APART.contains(&apart) => {}
                name if OWN.contains(&name) => {
                    own.insert(name.to_owned(), value);
                }
                _ => {
                    shape.insert(name, value);
                }
            }
        }
    }
    let renews = wire.quota_renews.and_then(|unix| u32::try_from(unix).ok());
    Ok(Session {
        grant,
        shape,
        own,
        expires: u32::try_from(wire.expires.unwrap_or(0).max(0)).unwrap_or(u32::MAX),
        quota: wire.quota_remaining.zip(renews.filter(|unix| *unix > 0)),
    })
}

/// Figures of a grant, written at `at`, that could not be held to.
pub(crate) fn beyond(document: &Document, at: &Path, grant: &Grant) -> Problems {
    let own = std::iter::once((at.clone(), grant.figures));
    let rights = at.key("access_rights");
    let limits = grant.access.iter();
    let limits = limits.map(|(api, figures)| (rights.key(api).key("limit"), *figures));
    let of = |(at, figures): (Path, Figures)| {
        let problems = figures.problems().into_iter();
        problems.map(move |(name, message)| document.problem(at.key(name), message))
    };
    own.chain(limits).flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let document = Document::parse_json("key", text).unwrap();
        let actual = match read(&document) {
            Ok(session) => format!("{session:?}"),
            Err(problems) => problems.to_string(),
        };
        assert!(actual.contains(expected), "{text}\n{actual}");
    }

    #[test]
    fn what_is_shared_and_what_is_a_keys_own() {
        let text = r#"{"alias": "a", "rate": 5, "per": 2, "quota_max": -1, "expires": -1, "quota_remaining": 3, "quota_renews": 9,
            "access_rights": {"x": {"api_id": "x", "limit": {"rate": 1, "per": 1}}}, "meta_data": null}"#;
        check(
            text,
            r#"own: {"alias": String("a"), "meta_data": Null}, expires: 0, quota: Some((3, 9))"#,
        );
        check(
            text,
            r#"access: [("x", Figures { rate: 1.0, per: 1.0, quota_max: 0, quota_renewal: 0 })]"#,
        );
    }

    #[test]
    fn what_cannot_be_held_is_refused() {
        check(r#"{"rate": "5"}"#, "key:1:10: rate: found the text `5`");
        check(r#"{"rate": 5}"#, "key:1:10: rate: a rate needs `per`");
        check(r#"{"quota_max": 5000000000}"#, "at most 4294967295");
        let limited =
            |limit: &str| format!(r#"{{"access_rights": {{"a": {{"limit": {{{limit}}}}}}}}}"#);
        check(
            &limited(r#""rate": 5"#),
            "access_rights.a.limit.rate: a rate needs `per`",
        );
        check(
            &limited(r#""quota_renewal_rate": 5000000000"#),
            "access_rights.a.limit.quota_renewal_rate: at most 4294967295",
        );
        check(r#"{"hmac_enabled": true}"#, "key:1:18: hmac_enabled: ");
        check(r#"{"hmac_enabled": false}"#, "Session {");
        check(
            r#"{"access_rights": {"a": {"allowed_urls": [{"url": "/x"}]}}}"#,
            "allowed_urls",
        );
    }
}
