//! Ignored fields of what a session or a policy says of each API, which mean the same in both.

use super::Unread;

pub const UNREAD: &[Unread] = &[
    Unread(
        "access_rights.*.api_id",
        "gateway/mw_access_rights.go: ProcessRequest",
        r#""other""#,
    ),
    Unread(
        "access_rights.*.api_name",
        "user/session.go: AccessDefinition, a name for people",
        r#""x""#,
    ),
    Unread(
        "access_rights.*.versions",
        "gateway/mw_access_rights.go: ProcessRequest (NotVersioned)",
        r#"["v9"]"#,
    ),
    Unread(
        "access_rights.*.limit.quota_renews",
        "gateway/session_manager.go: RedisQuotaExceeded",
        r#"9"#,
    ),
    Unread(
        "access_rights.*.limit.quota_remaining",
        "gateway/session_manager.go: RedisQuotaExceeded",
        r#"1"#,
    ),
    Unread(
        "access_rights.*.limit.throttle_interval",
        "gateway/mw_rate_limiting.go: ProcessRequest",
        r#"1.5"#,
    ),
    Unread(
        "access_rights.*.limit.throttle_retry_limit",
        "gateway/mw_rate_limiting.go: ProcessRequest",
        r#"3"#,
    ),
];
