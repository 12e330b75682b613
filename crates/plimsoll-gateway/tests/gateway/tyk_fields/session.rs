//! Sessions, as the control API takes them: `user/session.go` says which fields there are, the rows what they mean.

use super::Look::{Answer, Statuses};
use super::{Ask, Held, Row, Unread, access_rights, held, json_of, row, upstream};
use crate::tyk::{Files, ask, call, merge, target};
use serde_json::{Value, json};

const RATE: &str = "gateway/session_manager.go: newRateLimitChecker";
const QUOTA: &str = "gateway/session_manager.go: RedisQuotaExceeded";
const LIMIT: &str = "gateway/session_manager.go: GetAccessDefinitionByAPIIDOrSession";
const RENEWED: &str = "tyk_fields::lifetimes::quotas_are_whole_again_by_their_rate";
const EXPIRED: &str = "tyk_fields::lifetimes::what_has_expired_is_deleted_or_retained";

pub const ROWS: &[Row] = &[
    row(
        "rate",
        RATE,
        r#"{"rate":0,"per":3600}"#,
        r#"{"rate":2,"per":3600}"#,
        &[Ask(
            "GET /a/\nAuthorization: KEY",
            Statuses(3),
            "200 200 200",
            "200 200 429",
        )],
    ),
    row(
        "per",
        RATE,
        r#"{"rate":1,"per":0.000001}"#,
        r#"{"rate":1,"per":3600}"#,
        &[Ask(
            "GET /a/\nAuthorization: KEY",
            Statuses(3),
            "200 200 200",
            "200 429 429",
        )],
    ),
    row(
        "quota_max",
        QUOTA,
        r#"{"quota_max":-1,"quota_renewal_rate":3600}"#,
        r#"{"quota_max":2,"quota_renewal_rate":3600}"#,
        &[
            Ask(
                "GET /a/\nAuthorization: KEY",
                Statuses(3),
                "200 200 200",
                "200 200 403",
            ),
            Ask(
                "GET /a/\nAuthorization: KEY",
                Answer,
                "200 /",
                "403 Quota exceeded",
            ),
        ],
    ),
    held("quota_renewal_rate", QUOTA, RENEWED),
    row(
        "quota_remaining",
        "gateway/api.go: doAddOrUpdate (counts a new key from the whole: stricter here)",
        r#"{"quota_max":5,"quota_renewal_rate":3600,"quota_renews":4000000000}"#,
        r#"{"quota_max":5,"quota_renewal_rate":3600,"quota_renews":4000000000,"quota_remaining":1}"#,
        &[Ask(
            "GET /a/\nAuthorization: KEY",
            Statuses(3),
            "200 200 200",
            "200 403 403",
        )],
    ),
    row(
        "quota_renews",
        "gateway/api.go: doAddOrUpdate (counts a new key from the whole: stricter here)",
        r#"{"quota_max":5,"quota_renewal_rate":3600,"quota_remaining":1}"#,
        r#"{"quota_max":5,"quota_renewal_rate":3600,"quota_remaining":1,"quota_renews":4000000000}"#,
        &[Ask(
            "GET /a/\nAuthorization: KEY",
            Statuses(3),
            "200 200 200",
            "200 403 403",
        )],
    ),
    held(
        "expires",
        "gateway/mw_key_expired_check.go: ProcessRequest",
        "tyk::a_key_expires_and_is_told_so",
    ),
    row(
        "access_rights.*.limit.rate",
        LIMIT,
        r#"{"access_rights":{"a":{"limit":{"rate":0,"per":3600}}}}"#,
        r#"{"access_rights":{"a":{"limit":{"rate":2,"per":3600}}}}"#,
        &[
            Ask(
                "GET /a/\nAuthorization: KEY",
                Statuses(3),
                "200 200 200",
                "200 200 429",
            ),
            Ask(
                "GET /b/\nAuthorization: KEY",
                Statuses(3),
                "200 200 200",
                "200 200 200",
            ),
        ],
    ),
    row(
        "access_rights.*.limit.per",
        LIMIT,
        r#"{"access_rights":{"a":{"limit":{"rate":1,"per":0.000001}}}}"#,
        r#"{"access_rights":{"a":{"limit":{"rate":1,"per":3600}}}}"#,
        &[Ask(
            "GET /a/\nAuthorization: KEY",
            Statuses(3),
            "200 200 200",
            "200 429 429",
        )],
    ),
    row(
        "access_rights.*.limit.quota_max",
        LIMIT,
        r#"{"access_rights":{"a":{"limit":{"quota_max":-1,"quota_renewal_rate":3600}}}}"#,
        r#"{"access_rights":{"a":{"limit":{"quota_max":2,"quota_renewal_rate":3600}}}}"#,
        &[
            Ask(
                "GET /a/\nAuthorization: KEY",
                Statuses(3),
                "200 200 200",
                "200 200 403",
            ),
            Ask(
                "GET /b/\nAuthorization: KEY",
                Statuses(3),
                "200 200 200",
                "200 200 200",
            ),
        ],
    ),
    held("access_rights.*.limit.quota_renewal_rate", QUOTA, RENEWED),
    row(
        "access_rights.*.allowance_scope",
        QUOTA,
        r#"{"quota_max":2,"quota_renewal_rate":3600,"access_rights":{"a":{"allowance_scope":"s"},"b":{}}}"#,
        r#"{"quota_max":2,"quota_renewal_rate":3600,"access_rights":{"a":{"allowance_scope":"s"},"b":{"allowance_scope":"s"}}}"#,
        &[
            Ask(
                "GET /a/\nAuthorization: KEY",
                Statuses(2),
                "200 200",
                "200 200",
            ),
            Ask(
                "GET /b/\nAuthorization: KEY",
                Statuses(2),
                "200 200",
                "403 403",
            ),
        ],
    ),
    row(
        "is_inactive",
        "gateway/mw_key_expired_check.go: ProcessRequest",
        "{}",
        r#"{"is_inactive":true}"#,
        &[Ask(
            "GET /a/\nAuthorization: KEY",
            Answer,
            "200 /",
            "403 Key is inactive, please renew",
        )],
    ),
    row(
        "apply_policies",
        "internal/policy/apply.go: Apply",
        "{}",
        r#"{"apply_policies":["gold"]}"#,
        &[
            Ask(
                "GET /a/\nAuthorization: KEY",
                Statuses(3),
                "200 200 200",
                "200 200 429",
            ),
            Ask("GET /b/\nAuthorization: KEY", Statuses(1), "200", "403"),
        ],
    ),
    row(
        "apply_policy_id",
        "user/session.go: PolicyIDs",
        "{}",
        r#"{"apply_policy_id":"gold"}"#,
        &[
            Ask(
                "GET /a/\nAuthorization: KEY",
                Statuses(3),
                "200 200 200",
                "200 200 429",
            ),
            Ask("GET /b/\nAuthorization: KEY", Statuses(1), "200", "403"),
        ],
    ),
    held(
        "org_id",
        "internal/policy/apply.go: policyIds",
        "tyk_fields::session::policies_of_other_organisations_are_none_to_a_key",
    ),
    held(
        "session_lifetime",
        "user/session.go: Lifetime",
        "tyk_meaning::keys_leave_when_their_lifetime_is_over",
    ),
    held(
        "post_expiry_action",
        "user/session.go: calculatePostExpiryLifetime",
        EXPIRED,
    ),
    held(
        "post_expiry_grace_period",
        "user/session.go: calculatePostExpiryLifetime",
        EXPIRED,
    ),
];

/// Every ignored field, with those of what each API grants.
fn unread() -> impl Iterator<Item = &'static Unread> {
    UNREAD.iter().chain(access_rights::UNREAD)
}

pub const UNREAD: &[Unread] = &[
    Unread(
        "allowance",
        "gateway/session_manager.go: ForwardMessage (counted down, read by nobody)",
        r#"1"#,
    ),
    Unread(
        "last_check",
        "user/session.go: LastCheck is read by nobody",
        r#"9"#,
    ),
    Unread("alias", "gateway/handler_success.go: RecordHit", r#""me""#),
    Unread(
        "meta_data",
        "gateway/mw_rate_limiting.go: ProcessRequest; user/custom_policies.go: GetCustomPolicies (of two entries, which are refused)",
        r#"{"a":"b","tyk_developer_id":"d"}"#,
    ),
    Unread(
        "tags",
        "gateway/handler_success.go: getSessionTags",
        r#"["north"]"#,
    ),
    Unread(
        "date_created",
        "gateway/api.go: handleAddOrUpdate",
        r#""2000-01-01T00:00:00Z""#,
    ),
    Unread("last_updated", "gateway/api.go: doAddOrUpdate", r#""1""#),
    Unread(
        "data_expires",
        "gateway/middleware.go: OrgSession, of records",
        r#"9"#,
    ),
    Unread(
        "key_id",
        "user/session.go: KeyID is not read from JSON",
        r#""x""#,
    ),
    Unread(
        "monitor",
        "gateway/monitor.go: Check, Fire",
        r#"{"trigger_limits":[80,60]}"#,
    ),
    Unread(
        "enable_detail_recording",
        "gateway/handler_success.go: recordDetailUnsafe",
        r#"true"#,
    ),
    Unread(
        "enable_detailed_recording",
        "gateway/handler_success.go: recordDetailUnsafe",
        r#"true"#,
    ),
    Unread(
        "id_extractor_deadline",
        "gateway/coprocess_id_extractor.go: ExtractAndCheck",
        r#"9"#,
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
        "basic_auth_data",
        "user/session.go: IsBasicAuth",
        r#"{"hash_type":"bcrypt"}"#,
    ),
    Unread(
        "hmac_string",
        "gateway/mw_http_signature_validation.go: getSecretAndSessionForKeyID",
        r#""s""#,
    ),
    Unread(
        "rsa_certificate_id",
        "gateway/mw_http_signature_validation.go: getRSACertificateIdAndSessionForKeyID",
        r#""c""#,
    ),
    Unread(
        "oauth_client_id",
        "gateway/handler_success.go: RecordHit",
        r#""c""#,
    ),
    Unread(
        "oauth_keys",
        "gateway/oauth_manager.go: SaveAccess",
        r#"{"c":"k"}"#,
    ),
];

/// APIs, and a policy.
fn files() -> Files {
    let upstream = upstream();
    let files = Files::new();
    let gold = json!({ "org_id": "default", "rate": 2, "per": 3600, "access_rights": { "a": {} } });
    files.write("policies.json", &json!({ "gold": gold }).to_string());
    for id in ["a", "b", "c"] {
        files.api(
            id,
            json!({ "use_keyless": false, "proxy": target(upstream.address) }),
        );
    }
    files
}

#[test]
fn fields_of_sessions_mean_what_they_mean_to_tyk() {
    let upstream = upstream();
    let gateway = files().start();
    for (number, Row(name, _, held)) in ROWS.iter().enumerate() {
        let Held::Case(case) = held else { continue };
        for (which, text) in [("without", case.without), ("with", case.with)] {
            let key = format!("{which}-{number}");
            let mut session = json!({ "access_rights": { "a": {}, "b": {} } });
            merge(&mut session, json_of(text, &upstream));
            let path = format!("/tyk/keys/{key}");
            let made = call(&gateway, "POST", &path, &session.to_string());
            assert_eq!(made.0, 200, "{name}: {}", made.1);
            for ask in case.asks {
                let expected = if which == "with" { ask.3 } else { ask.2 };
                let seen = ask.look(&gateway, "", &key);
                assert_eq!(seen, expected, "{name}, {which} it: {}", ask.0);
            }
        }
    }
}

#[test]
fn ignored_fields_of_sessions_change_nothing() {
    let gateway = files().start();
    let base = json!({
        "quota_max": 2, "quota_renewal_rate": 3600,
        "access_rights": { "a": { "limit": { "rate": 2, "per": 3600 } }, "b": {} },
    });
    let seen = |key: &str, session: &Value| {
        let made = call(
            &gateway,
            "POST",
            &format!("/tyk/keys/{key}"),
            &session.to_string(),
        );
        assert_eq!(made.0, 200, "{key}: {}", made.1);
        [
            Ask("GET /a/\nAuthorization: KEY", Statuses(3), "", ""),
            Ask("GET /b/\nAuthorization: KEY", Statuses(3), "", ""),
            Ask("GET /c/\nAuthorization: KEY", Statuses(3), "", ""),
        ]
        .map(|ask| ask.look(&gateway, "", key))
    };
    let without = seen("without", &base);
    assert_eq!(without, ["200 200 429", "200 200 403", "403 403 403"]);
    for (number, unread) in unread().enumerate() {
        let key = format!("with-{number}");
        let with = seen(&key, &unread.in_document(&base));
        assert_eq!(with, without, "{}", unread.0);
    }
}

/// Entries of `meta_data` by which Tyk counts and grants: `ProcessRequest` of `gateway/mw_rate_limiting.go`, `GetCustomPolicies` of
/// `user/custom_policies.go`.
#[test]
fn entries_of_meta_data_that_tyk_looks_at_are_refused() {
    for (name, value) in [
        ("rate_limit_pattern", json!("$tyk_context.path")),
        (
            "policies",
            json!([{ "id": "p", "access_rights": { "b": {} } }]),
        ),
    ] {
        let files = files();
        let gateway = files.start();
        let session = json!({ "access_rights": { "a": {} }, "meta_data": { name: value } });
        let told = call(&gateway, "POST", "/tyk/keys/a-key", &session.to_string());
        assert_eq!(told.0, 400, "{}", told.1);
        assert!(
            told.1.to_string().contains(&format!("meta_data.{name}")),
            "{}",
            told.1
        );
        let policies =
            json!({ "p": { "access_rights": { "a": {} }, "meta_data": { name: value } } });
        files.write("policies.json", &policies.to_string());
        let told = files.open(false).map(|_| ()).unwrap_err();
        assert!(told.contains(&format!("meta_data.{name}")), "{told}");
    }
}

/// Tyk looks for a policy by its name and the session's organisation (`policyIds` of `internal/policy/apply.go`).
#[test]
fn policies_of_other_organisations_are_none_to_a_key() {
    let files = files();
    let gateway = files.start();
    let make = |key: &str, organisation: &str| {
        let session = json!({ "org_id": organisation, "apply_policies": ["gold"] });
        let path = format!("/tyk/keys/{key}");
        call(&gateway, "POST", &path, &session.to_string()).0
    };
    let statuses = || ["own", "any"].map(|key| ask(&gateway, "/a/", key).status());
    assert_eq!(make("own", "default"), 200);
    assert_eq!(make("any", ""), 200);
    assert_eq!(make("foreign", "acme"), 400);
    assert_eq!(statuses(), [200, 200]);
    let gold = json!({ "org_id": "acme", "access_rights": { "a": {} } });
    files.write("policies.json", &json!({ "gold": gold }).to_string());
    assert_eq!(call(&gateway, "GET", "/tyk/reload", "").0, 200);
    // The API is of another organisation than the policy by now.
    assert_eq!(statuses(), [403, 403]);
}

/// `IsEmpty` of `APILimit` in `user/session.go`: the key's own figures do not hold beside such a limit.
#[test]
fn a_limit_that_says_no_figure_is_none() {
    let gateway = files().start();
    for says in [
        "quota_renews",
        "quota_remaining",
        "throttle_interval",
        "throttle_retry_limit",
    ] {
        let access = json!({ "a": { "limit": { says: 1 } }, "b": {} });
        let session = json!({ "rate": 1, "per": 3600, "access_rights": access });
        let made = call(
            &gateway,
            "POST",
            &format!("/tyk/keys/{says}"),
            &session.to_string(),
        );
        assert_eq!(made.0, 200, "{}", made.1);
        let statuses = |path: &str| [(); 3].map(|()| ask(&gateway, path, says).status());
        assert_eq!(statuses("/a/"), [200, 200, 200], "{says}");
        assert_eq!(statuses("/b/"), [200, 429, 429], "{says}");
    }
}
