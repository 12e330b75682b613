//! Policies: `user/policy.go` says which fields there are, the rows what they mean.

use super::Look::{Answer, Statuses};
use super::{Ask, Held, Row, Unread, access_rights, held, json_of, row, upstream};
use crate::tyk::{Files, call, merge, target};
use serde_json::{Value, json};

const PARTS: &str = "internal/policy/apply.go: applyPartitions";
const PER_API: &str = "internal/policy/apply.go: applyPerAPI";
const RENEWED: &str = "tyk_fields::lifetimes::quotas_are_whole_again_by_their_rate";
const EXPIRED: &str = "tyk_fields::lifetimes::what_has_expired_is_deleted_or_retained";
const NAMED: &str = "tyk_fields::policy::a_policy_in_a_file_of_its_own_goes_by_either_id";
const NONE: &str = "200 200 200 200 200";

pub const ROWS: &[Row] = &[
    held("_id", "gateway/policy.go: LoadPoliciesFromDir", NAMED),
    held("id", "gateway/policy.go: LoadPoliciesFromDir", NAMED),
    held(
        "org_id",
        "internal/policy/apply.go: Apply",
        "tyk_meaning::a_policys_limit_is_each_apis_alone_or_nobodys",
    ),
    row(
        "rate",
        "internal/policy/apply.go: ApplyRateLimits",
        r#"{"rate":0,"per":3600}"#,
        r#"{"rate":2,"per":3600}"#,
        &[Ask(
            "GET /a/\nAuthorization: KEY",
            Statuses(5),
            NONE,
            "200 200 429 429 429",
        )],
    ),
    row(
        "per",
        "internal/policy/apply.go: ApplyRateLimits",
        r#"{"rate":1,"per":0.000001}"#,
        r#"{"rate":1,"per":3600}"#,
        &[Ask(
            "GET /a/\nAuthorization: KEY",
            Statuses(5),
            NONE,
            "200 429 429 429 429",
        )],
    ),
    row(
        "quota_max",
        PARTS,
        r#"{"quota_max":-1,"quota_renewal_rate":3600}"#,
        r#"{"quota_max":2,"quota_renewal_rate":3600}"#,
        &[Ask(
            "GET /a/\nAuthorization: KEY",
            Statuses(5),
            NONE,
            "200 200 403 403 403",
        )],
    ),
    held("quota_renewal_rate", PARTS, RENEWED),
    row(
        "access_rights.*.limit.rate",
        PER_API,
        r#"{"partitions":{"per_api":true},"access_rights":{"a":{"limit":{"rate":0,"per":3600}}}}"#,
        r#"{"partitions":{"per_api":true},"access_rights":{"a":{"limit":{"rate":2,"per":3600}}}}"#,
        &[
            Ask(
                "GET /a/\nAuthorization: KEY",
                Statuses(5),
                NONE,
                "200 200 429 429 429",
            ),
            Ask("GET /b/\nAuthorization: KEY", Statuses(5), NONE, NONE),
        ],
    ),
    row(
        "access_rights.*.limit.per",
        PER_API,
        r#"{"partitions":{"per_api":true},"access_rights":{"a":{"limit":{"rate":1,"per":0.000001}}}}"#,
        r#"{"partitions":{"per_api":true},"access_rights":{"a":{"limit":{"rate":1,"per":3600}}}}"#,
        &[Ask(
            "GET /a/\nAuthorization: KEY",
            Statuses(5),
            NONE,
            "200 429 429 429 429",
        )],
    ),
    row(
        "access_rights.*.limit.quota_max",
        PER_API,
        r#"{"partitions":{"per_api":true},"access_rights":{"a":{"limit":{"quota_max":-1,"quota_renewal_rate":3600}}}}"#,
        r#"{"partitions":{"per_api":true},"access_rights":{"a":{"limit":{"quota_max":2,"quota_renewal_rate":3600}}}}"#,
        &[
            Ask(
                "GET /a/\nAuthorization: KEY",
                Statuses(5),
                NONE,
                "200 200 403 403 403",
            ),
            Ask("GET /b/\nAuthorization: KEY", Statuses(5), NONE, NONE),
        ],
    ),
    held("access_rights.*.limit.quota_renewal_rate", PER_API, RENEWED),
    row(
        "is_inactive",
        "internal/policy/apply.go: Apply",
        "{}",
        r#"{"is_inactive":true}"#,
        &[Ask(
            "GET /a/\nAuthorization: KEY",
            Answer,
            "200 /",
            "403 Key is inactive, please renew",
        )],
    ),
    held(
        "key_expires_in",
        "gateway/api.go: checkAndApplyTrialPeriod",
        "tyk_fields::lifetimes::a_policy_has_new_keys_expire_and_no_others",
    ),
    // The session's own quota is four, which policies with a say in quotas take away.
    row(
        "partitions.quota",
        PARTS,
        r#"{"quota_max":2,"quota_renewal_rate":3600,"partitions":{"acl":true}}"#,
        r#"{"quota_max":2,"quota_renewal_rate":3600,"partitions":{"acl":true,"quota":true}}"#,
        &[Ask(
            "GET /a/\nAuthorization: KEY",
            Statuses(5),
            "200 200 200 200 403",
            "200 200 403 403 403",
        )],
    ),
    row(
        "partitions.rate_limit",
        PARTS,
        r#"{"rate":2,"per":3600,"partitions":{"acl":true}}"#,
        r#"{"rate":2,"per":3600,"partitions":{"acl":true,"rate_limit":true}}"#,
        &[Ask(
            "GET /a/\nAuthorization: KEY",
            Statuses(5),
            "200 200 200 200 403",
            "200 200 429 429 429",
        )],
    ),
    row(
        "partitions.acl",
        PARTS,
        r#"{"rate":2,"per":3600,"partitions":{"rate_limit":true}}"#,
        r#"{"rate":2,"per":3600,"partitions":{"rate_limit":true,"acl":true}}"#,
        &[Ask(
            "GET /b/\nAuthorization: KEY",
            Answer,
            "403 Access to this API has been disallowed",
            "200 /",
        )],
    ),
    row(
        "partitions.per_api",
        PER_API,
        r#"{"rate":3,"per":3600,"access_rights":{"a":{"limit":{"rate":1,"per":3600}}}}"#,
        r#"{"rate":3,"per":3600,"access_rights":{"a":{"limit":{"rate":1,"per":3600}}},"partitions":{"per_api":true}}"#,
        &[
            Ask(
                "GET /a/\nAuthorization: KEY",
                Statuses(5),
                "200 200 200 429 429",
                "200 429 429 429 429",
            ),
            // Together with the other, or by itself.
            Ask(
                "GET /b/\nAuthorization: KEY",
                Statuses(4),
                "429 429 429 429",
                "200 200 200 429",
            ),
        ],
    ),
    row(
        "partitions.complexity",
        PARTS,
        r#"{"rate":2,"per":3600}"#,
        r#"{"rate":2,"per":3600,"partitions":{"complexity":true}}"#,
        &[Ask(
            "GET /a/\nAuthorization: KEY",
            Statuses(3),
            "200 200 429",
            "403 403 403",
        )],
    ),
    held(
        "post_expiry_action",
        "gateway/api.go: checkAndApplyTrialPeriod",
        EXPIRED,
    ),
    held(
        "post_expiry_grace_period",
        "gateway/api.go: checkAndApplyTrialPeriod",
        EXPIRED,
    ),
];

/// Every ignored field, with those of what each API grants.
fn unread() -> impl Iterator<Item = &'static Unread> {
    UNREAD.iter().chain(access_rights::UNREAD)
}

pub const UNREAD: &[Unread] = &[
    Unread(
        "name",
        "user/policy.go: Policy, a name for people",
        r#""x""#,
    ),
    Unread(
        "access_rights.*.allowance_scope",
        "internal/policy/apply.go: applyPerAPI",
        r#""s""#,
    ),
    Unread(
        "active",
        "internal/policy/apply.go: Apply (of IsInactive alone)",
        r#"true"#,
    ),
    Unread(
        "throttle_interval",
        "gateway/mw_rate_limiting.go: ProcessRequest",
        r#"1.5"#,
    ),
    Unread(
        "throttle_retry_limit",
        "gateway/mw_rate_limiting.go: ProcessRequest",
        r#"3"#,
    ),
    Unread(
        "tags",
        "internal/policy/apply.go: Apply; gateway/handler_success.go: getSessionTags",
        r#"["north"]"#,
    ),
    Unread(
        "meta_data",
        "internal/policy/apply.go: Apply",
        r#"{"a":"b","tyk_developer_id":"d"}"#,
    ),
    Unread("state", "user/policy.go: no such field", r#""draft""#),
    Unread("quota_renews", "user/policy.go: no such field", r#"9"#),
    Unread("last_updated", "internal/policy/apply.go: Apply", r#""1""#),
    Unread(
        "date_created",
        "user/policy.go: no such field",
        r#""2000-01-01T00:00:00Z""#,
    ),
];

/// A policy that says this, besides what it opens.
fn policy(more: Value) -> Value {
    let mut policy = json!({ "org_id": "default", "access_rights": { "a": {}, "b": {} } });
    merge(&mut policy, more);
    policy
}

fn with(policies: &Value) -> Files {
    let upstream = upstream();
    let files = Files::new();
    files.write("policies.json", &policies.to_string());
    for id in ["a", "b"] {
        files.api(
            id,
            json!({ "use_keyless": false, "proxy": target(upstream.address) }),
        );
    }
    files
}

/// A key with a quota of its own, and this policy.
fn session(policy: &str) -> String {
    json!({
        "quota_max": 4, "quota_renewal_rate": 3600, "access_rights": { "a": {} }, "apply_policies": [policy],
    })
    .to_string()
}

#[test]
fn fields_of_policies_mean_what_they_mean_to_tyk() {
    let upstream = upstream();
    let mut policies = json!({});
    let mut cases = Vec::new();
    for (number, Row(name, _, held)) in ROWS.iter().enumerate() {
        let Held::Case(case) = held else { continue };
        for (which, text) in [("without", case.without), ("with", case.with)] {
            let key = format!("{which}-{number}");
            policies[&key] = policy(json_of(text, &upstream));
            cases.push((key, which, name, case));
        }
    }
    let gateway = with(&policies).start();
    for (key, which, name, case) in cases {
        let made = call(
            &gateway,
            "POST",
            &format!("/tyk/keys/{key}"),
            &session(&key),
        );
        assert_eq!(made.0, 200, "{name}: {}", made.1);
        for ask in case.asks {
            let expected = if which == "with" { ask.3 } else { ask.2 };
            let seen = ask.look(&gateway, "", &key);
            assert_eq!(seen, expected, "{name}, {which} it: {}", ask.0);
        }
    }
}

#[test]
fn ignored_fields_of_policies_change_nothing_and_are_told() {
    let access = json!({ "a": { "limit": { "rate": 2, "per": 3600 } }, "b": {} });
    let base = json!({
        "org_id": "default", "quota_max": 2, "quota_renewal_rate": 3600, "access_rights": access, "partitions": { "per_api": true },
    });
    let mut policies = json!({ "without": base });
    for (number, unread) in unread().enumerate() {
        policies[format!("with-{number}")] = unread.in_document(&base);
    }
    let files = with(&policies);
    let (_, _, notes) = files
        .open(false)
        .unwrap_or_else(|problems| panic!("{problems}"));
    let notes = notes.join("\n");
    let gateway = files.start();
    let seen = |key: &str| {
        let made = call(&gateway, "POST", &format!("/tyk/keys/{key}"), &session(key));
        assert_eq!(made.0, 200, "{key}: {}", made.1);
        [
            Ask("GET /a/\nAuthorization: KEY", Statuses(3), "", ""),
            Ask("GET /b/\nAuthorization: KEY", Statuses(3), "", ""),
        ]
        .map(|ask| ask.look(&gateway, "", key))
    };
    let without = seen("without");
    assert_eq!(without, ["200 200 429", "200 200 403"]);
    for (number, unread) in unread().enumerate() {
        let key = format!("with-{number}");
        assert_eq!(seen(&key), without, "{}", unread.0);
        let path = format!("{key}.{}", unread.shown());
        assert!(notes.contains(&path), "{path}: {notes}");
    }
}

#[test]
fn a_policy_in_a_file_of_its_own_goes_by_either_id() {
    let files = with(&json!({}));
    let directory = tempfile::tempdir().unwrap();
    for (file, ids) in [
        ("one", json!({ "id": "by-id", "_id": "unused" })),
        ("two", json!({ "_id": "by-other-id" })),
    ] {
        let path = directory.path().join(format!("{file}.json"));
        std::fs::write(path, policy(ids).to_string()).unwrap();
    }
    files.conf(json!({ "policies": { "policy_path": directory.path() } }));
    let gateway = files.start();
    let made = |policy: &str| call(&gateway, "POST", "/tyk/keys/a-key", &session(policy)).0;
    assert_eq!(made("by-id"), 200);
    assert_eq!(made("by-other-id"), 200);
    assert_eq!(made("unused"), 400);
}
