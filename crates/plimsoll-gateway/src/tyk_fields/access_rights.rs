//! What a session or a policy says of each API that it opens (`user/session.go`, `AccessDefinition`).

use super::Class::{Ignored, Refused, Supported};
use super::Field;

pub(super) const FIELDS: &[Field] = &[
    Field(
        "access_rights.*.api_id",
        Ignored,
        "its name in the list counts",
    ),
    Field("access_rights.*.api_name", Ignored, "a name for people"),
    Field(
        "access_rights.*.versions",
        Ignored,
        "an API has one version",
    ),
    Field(
        "access_rights.*.limit.rate",
        Supported,
        "with an account of its own; in a policy with `partitions.per_api` alone",
    ),
    Field("access_rights.*.limit.per", Supported, ""),
    Field(
        "access_rights.*.limit.quota_max",
        Supported,
        "gateways that share a Redis add up what was spent of it, as of a key's own quota",
    ),
    Field("access_rights.*.limit.quota_renewal_rate", Supported, ""),
    Field(
        "access_rights.*.limit.quota_renews",
        Ignored,
        "a quota begins with its first request; a limit that says nothing else is none, as in Tyk",
    ),
    Field(
        "access_rights.*.limit.quota_remaining",
        Ignored,
        "a quota begins with its first request; a limit that says nothing else is none, as in Tyk",
    ),
    Field(
        "access_rights.*.limit.throttle_interval",
        Ignored,
        "a request too many is refused at once, not held; a limit that says nothing else is none, as in Tyk",
    ),
    Field(
        "access_rights.*.limit.throttle_retry_limit",
        Ignored,
        "a request too many is refused at once, not held; a limit that says nothing else is none, as in Tyk",
    ),
    Field(
        "access_rights.*.limit.max_query_depth",
        Refused(&["-1"]),
        "queries are not read",
    ),
    Field(
        "access_rights.*.limit.smoothing",
        Refused(&[]),
        "limits are what is written",
    ),
    Field(
        "access_rights.*.allowed_urls",
        Refused(&[]),
        "a key opens an API as a whole",
    ),
    Field(
        "access_rights.*.restricted_types",
        Refused(&[]),
        "queries are not read",
    ),
    Field(
        "access_rights.*.allowed_types",
        Refused(&[]),
        "queries are not read",
    ),
    Field(
        "access_rights.*.field_access_rights",
        Refused(&[]),
        "queries are not read",
    ),
    Field(
        "access_rights.*.disable_introspection",
        Refused(&[]),
        "queries are not read",
    ),
    Field(
        "access_rights.*.endpoints",
        Refused(&[]),
        "limits are per key and per API",
    ),
];
