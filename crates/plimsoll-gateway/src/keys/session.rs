//! Tyk's session object (`user/session.go`): from JSON to terms and a key's own, and back.

use super::grant::{ApiGrant, Figures, Grant, Unapplied};
use super::lifetime::{AfterExpiry, KeyLifetime};
use crate::keys::tyk_fields as fields;
use deserr::Deserr;
use plimsoll_base::document::{
    Allowance, Counted, Document, Entries, Nulls, Path, Problems, Rules,
};
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
    /// Fields that many keys share, as written.
    pub(crate) shape: Map<String, Value>,
    /// Fields of this key alone, as written.
    pub(crate) own: Map<String, Value>,
    /// Seconds since 1970; 0: never.
    pub(crate) expires: u32,
    /// The rest of its quota until when, if it says so.
    pub(crate) quota: Option<(i64, u32)>,
    /// How long it is to be there.
    pub(crate) lifetime: KeyLifetime,
    /// When it leaves, in seconds since 1970; `None`: never. Found when it is made.
    pub(crate) leaves: Option<u32>,
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
    throttle_interval: Option<f64>,
    #[deserr(default)]
    throttle_retry_limit: Option<i64>,
    #[deserr(default)]
    max_query_depth: Option<i64>,
    #[deserr(default)]
    quota_remaining: Option<i64>,
    #[deserr(default)]
    quota_renews: Option<i64>,
    #[deserr(default)]
    expires: Option<i64>,
    #[deserr(default)]
    session_lifetime: Option<i64>,
    #[deserr(default)]
    post_expiry_action: Option<String>,
    #[deserr(default)]
    post_expiry_grace_period: Option<i64>,
    #[deserr(default)]
    access_rights: Option<Entries<AccessWire>>,
    #[deserr(default)]
    is_inactive: Option<bool>,
    #[deserr(default)]
    apply_policies: Option<Vec<String>>,
    #[deserr(default)]
    apply_policy_id: Option<String>,
    #[deserr(default)]
    org_id: Option<String>,
}

/// Grant of one API.
#[derive(Debug, Deserr)]
pub(crate) struct AccessWire {
    #[deserr(default)]
    limit: Option<LimitWire>,
    #[deserr(default)]
    allowance_scope: Option<String>,
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
    #[deserr(default)]
    quota_renews: Option<i64>,
    #[deserr(default)]
    quota_remaining: Option<i64>,
    #[deserr(default)]
    throttle_interval: Option<f64>,
    #[deserr(default)]
    throttle_retry_limit: Option<i64>,
    #[deserr(default)]
    max_query_depth: Option<i64>,
}

impl LimitWire {
    fn figures(&self) -> Figures {
        Figures {
            rate: self.rate.unwrap_or(0.0),
            per: self.per.unwrap_or(0.0),
            quota_max: self.quota_max.unwrap_or(0),
            quota_renewal: self.quota_renewal_rate.unwrap_or(0),
            unapplied: Unapplied {
                query_depth: self.max_query_depth.unwrap_or(0),
                throttle_interval: self.throttle_interval.unwrap_or(0.0),
                throttle_retries: self.throttle_retry_limit.unwrap_or(0),
            },
        }
    }

    /// Whether it says anything, of whatever has an effect here or not.
    fn says_anything(&self) -> bool {
        let floats = [self.rate, self.per, self.throttle_interval];
        let whole = [
            self.quota_max,
            self.quota_renewal_rate,
            self.quota_renews,
            self.quota_remaining,
            self.throttle_retry_limit,
            self.max_query_depth,
        ];
        floats.iter().flatten().any(|figure| *figure != 0.0)
            || whole.iter().flatten().any(|figure| *figure != 0)
    }
}

/// Access rights as a session or a policy writes them.
pub(crate) fn access(written: Option<Entries<AccessWire>>) -> Vec<(String, ApiGrant)> {
    let entries = written.unwrap_or_default().0.into_iter();
    let grant = |access: AccessWire| ApiGrant {
        limit: access
            .limit
            .as_ref()
            .map(LimitWire::figures)
            .unwrap_or_default(),
        says_limit: access.limit.as_ref().is_some_and(LimitWire::says_anything),
        scope: access.allowance_scope.unwrap_or_default(),
    };
    entries.map(|(api, access)| (api, grant(access))).collect()
}

/// Reads a session.
///
/// # Errors
/// Fields of the wrong type, fields that restrict and are not supported, figures beyond what can be counted.
pub(crate) fn read(document: Document) -> Result<Session, Problems> {
    /// It is kept as JSON, of which a mapping takes some hundred bytes.
    const VALUES: Allowance = Allowance {
        any: 6_000,
        bytes_each: 40,
    };
    document.bound(Counted::Values, VALUES)?;
    let document = &fields::spelled(fields::SESSION, document, false)?;
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
            unapplied: Unapplied {
                query_depth: wire.max_query_depth.unwrap_or(0),
                throttle_interval: wire.throttle_interval.unwrap_or(0.0),
                throttle_retries: wire.throttle_retry_limit.unwrap_or(0),
            },
        },
        access: access(wire.access_rights),
        policies,
        organisation: wire.org_id.unwrap_or_default(),
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
    let action = wire.post_expiry_action.as_deref().unwrap_or("");
    let grace = wire.post_expiry_grace_period.unwrap_or(0);
    let lifetime = KeyLifetime {
        seconds: wire.session_lifetime.unwrap_or(0),
        expires: wire.expires.unwrap_or(0),
        after_expiry: after_expiry(document, &Path::root(), action, grace)?,
    };
    let renews = wire.quota_renews.and_then(|unix| u32::try_from(unix).ok());
    Ok(Session {
        grant,
        shape,
        own,
        expires: u32::try_from(wire.expires.unwrap_or(0).max(0)).unwrap_or(u32::MAX),
        lifetime,
        leaves: None,
        quota: wire.quota_remaining.zip(renews.filter(|unix| *unix > 0)),
    })
}

/// Fate of an expired key as written at `at`.
pub(crate) fn after_expiry(
    document: &Document,
    at: &Path,
    action: &str,
    grace: i64,
) -> Result<AfterExpiry, Problems> {
    AfterExpiry::parse(action, grace).ok_or_else(|| {
        let message = "write `delete`, or `retain` with seconds in `post_expiry_grace_period`, of which -1 is for ever";
        document.problem(at.key("post_expiry_action"), message).into()
    })
}

/// Figures of a grant, written at `at`, that could not be held to.
pub(crate) fn beyond(document: &Document, at: &Path, grant: &Grant) -> Problems {
    let own = std::iter::once((None, grant.figures));
    let limits = grant.access.iter();
    let limits = limits.map(|(api, access)| (Some(api), access.limit));
    let mut problems = Problems::default();
    for (api, figures) in own.chain(limits) {
        for (name, message) in figures.problems() {
            // Made for problems alone: of most grants there are none.
            let at = match api {
                None => at.clone(),
                Some(api) => at.key("access_rights").key(api).key("limit"),
            };
            problems.extend([document.problem(at.key(name), message)]);
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let document = Document::parse_json("key", text).unwrap();
        let actual = match read(document) {
            Ok(session) => format!("{session:?}"),
            Err(problems) => problems.to_string(),
        };
        assert!(actual.contains(expected), "{text}\n{actual}");
    }

    #[test]
    fn a_key_opens_as_many_apis_as_its_length_allows() {
        let key = |rights: &dyn Fn(usize) -> String, count: usize| {
            let rights: Vec<String> = (0..count).map(rights).collect();
            let text = format!(r#"{{"access_rights": {{{}}}}}"#, rights.join(","));
            read(Document::parse_json("key", &text).unwrap())
        };
        let usual = |n| {
            format!(r#""a{n}":{{"api_id":"a{n}","api_name":"API {n}","versions":["Default"]}}"#)
        };
        assert!(key(&usual, 1_000).is_ok());
        let refused = key(&|n| format!(r#""a{n}":{{}}"#), 20_000)
            .unwrap_err()
            .to_string();
        assert!(refused.contains(" values in "), "{refused}");
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
            r#"access: [("x", ApiGrant { limit: Figures { rate: 1.0, per: 1.0, quota_max: 0, quota_renewal: 0, unapplied: Unapplied { query_depth: 0, throttle_interval: 0.0, throttle_retries: 0 } }, says_limit: true, scope: "" })]"#,
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
