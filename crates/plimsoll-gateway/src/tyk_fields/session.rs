//! A session, as the control API takes it (`user/session.go`).

use super::Class::{Ignored, Refused, Supported};
use super::{Field, Kind, access_rights};

const RECORDED: &str = "kept and shown, without effect";

pub(super) const KIND: Kind = Kind {
    name: "a session",
    fields: &[
        &[
            Field(
                "rate",
                Supported,
                "at most `rate` at once, and on average; -1 and 0: none",
            ),
            Field("per", Supported, "seconds"),
            Field("allowance", Ignored, RECORDED),
            Field("last_check", Ignored, RECORDED),
            Field("quota_max", Supported, "-1 and 0: none"),
            Field("quota_renewal_rate", Supported, "seconds"),
            Field(
                "quota_remaining",
                Supported,
                "together with `quota_renews`, for a new key, which Tyk counts from the whole",
            ),
            Field("quota_renews", Supported, ""),
            Field(
                "expires",
                Supported,
                "seconds since 1970; 0 and -1: never; known for a day more, unless a lifetime ends before, in which it is refused with 401 and may be renewed; one that is past counts, where Tyk keeps the one before",
            ),
        ],
        access_rights::FIELDS,
        &[
            Field(
                "access_rights.*.allowance_scope",
                Supported,
                "APIs of one scope that say no limit are counted together",
            ),
            Field(
                "is_inactive",
                Supported,
                "also where policies are active, which alone decide in Tyk",
            ),
            Field(
                "apply_policies",
                Supported,
                "policies of `policies.json`, by name",
            ),
            Field(
                "apply_policy_id",
                Supported,
                "where `apply_policies` is empty",
            ),
            Field(
                "org_id",
                Supported,
                "in the name of a key that is made; Tyk puts it before a name that is given, too; policies of other organisations are none to it",
            ),
            Field("alias", Ignored, "kept, shown, and in records"),
            Field(
                "meta_data.rate_limit_pattern",
                Refused(&[]),
                "a key's rate is its own",
            ),
            Field(
                "meta_data.policies",
                Refused(&[]),
                "policies come from files alone",
            ),
            Field("meta_data", Ignored, RECORDED),
            Field("tags", Ignored, "kept, shown, and in records"),
            Field("date_created", Ignored, RECORDED),
            Field("last_updated", Ignored, RECORDED),
            Field("data_expires", Ignored, RECORDED),
            Field("key_id", Ignored, "the path says it"),
            Field(
                "monitor",
                Ignored,
                "nobody is told when a quota is nearly used up",
            ),
            Field(
                "enable_detail_recording",
                Ignored,
                "the configuration says it for all keys",
            ),
            Field(
                "enable_detailed_recording",
                Ignored,
                "the configuration says it for all keys",
            ),
            Field(
                "session_lifetime",
                Supported,
                "seconds; before what APIs say",
            ),
            Field("id_extractor_deadline", Ignored, RECORDED),
            Field(
                "throttle_interval",
                Ignored,
                "a request too many is refused at once, not held",
            ),
            Field(
                "throttle_retry_limit",
                Ignored,
                "a request too many is refused at once, not held",
            ),
            Field(
                "post_expiry_action",
                Supported,
                "`delete`, or `retain` for `post_expiry_grace_period`",
            ),
            Field(
                "post_expiry_grace_period",
                Supported,
                "seconds that a key is known after it has expired; -1: for ever, by which a day is meant here",
            ),
            Field("max_query_depth", Refused(&["-1"]), "queries are not read"),
            Field("smoothing", Refused(&[]), "limits are what is written"),
            Field(
                "certificate",
                Refused(&[]),
                "certificates open no API of Tyk's files",
            ),
            Field(
                "mtls_static_certificate_bindings",
                Refused(&[]),
                "certificates open no API of Tyk's files",
            ),
            Field(
                "basic_auth_data.password",
                Refused(&[]),
                "a token alone proves who calls",
            ),
            Field("basic_auth_data", Ignored, "counts with `password` alone"),
            Field("jwt_data", Refused(&[]), "a token alone proves who calls"),
            Field("hmac_enabled", Refused(&[]), "signatures are not checked"),
            Field("hmac_string", Ignored, "counts with `hmac_enabled` alone"),
            Field(
                "enable_http_signature_validation",
                Refused(&[]),
                "signatures are not checked",
            ),
            Field(
                "rsa_certificate_id",
                Ignored,
                "counts with `enable_http_signature_validation` alone",
            ),
            Field("oauth_client_id", Ignored, RECORDED),
            Field("oauth_keys", Ignored, RECORDED),
        ],
    ],
};
