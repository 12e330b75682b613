//! One policy of `policies.json` (`user/policy.go`).

use super::Class::{Ignored, Refused, Supported};
use super::{Field, Kind, access_rights};

pub(super) const KIND: Kind = Kind {
    name: "a policy",
    fields: &[
        &[
            Field("_id", Supported, "in place of `id` that is left out"),
            Field(
                "id",
                Supported,
                "names a policy that has a file for itself; else its name in the file counts",
            ),
            Field("name", Ignored, "a name for people"),
            Field(
                "org_id",
                Supported,
                "keys with this policy open APIs of this organisation alone",
            ),
            Field(
                "rate",
                Supported,
                "of several policies the fastest of each API",
            ),
            Field("per", Supported, "seconds"),
            Field(
                "quota_max",
                Supported,
                "of several policies the largest of each API; -1 is the largest, 0 says nothing",
            ),
            Field(
                "quota_renewal_rate",
                Supported,
                "seconds; of several policies the longest of each API",
            ),
        ],
        access_rights::FIELDS,
        &[
            Field(
                "access_rights.*.allowance_scope",
                Ignored,
                "Tyk sets it itself",
            ),
            Field("active", Ignored, "Tyk looks at `is_inactive`"),
            Field("is_inactive", Supported, ""),
            Field(
                "key_expires_in",
                Supported,
                "seconds, for keys that are made with it",
            ),
            Field(
                "partitions.quota",
                Supported,
                "none of `quota`, `rate_limit`, `acl` and `complexity`: all of them",
            ),
            Field("partitions.rate_limit", Supported, ""),
            Field("partitions.acl", Supported, ""),
            Field(
                "partitions.per_api",
                Supported,
                "each API has its own limit, or the policy's where it says none; refused beside the others, as Tyk refuses the keys",
            ),
            Field(
                "partitions.complexity",
                Supported,
                "queries are not read, but a policy of this part alone says nothing of the others",
            ),
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
            Field("max_query_depth", Refused(&["-1"]), "queries are not read"),
            Field("smoothing", Refused(&[]), "limits are what is written"),
            Field("hmac_enabled", Refused(&[]), "signatures are not checked"),
            Field(
                "enable_http_signature_validation",
                Refused(&[]),
                "signatures are not checked",
            ),
            Field("rsa_enabled", Refused(&[]), "signatures are not checked"),
            Field("tags", Ignored, "records carry the tags of keys alone"),
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
            Field(
                "meta_data",
                Ignored,
                "a value that would use them is refused",
            ),
            Field("state", Ignored, "something of Tyk's dashboard"),
            Field("quota_renews", Ignored, "Tyk has no such field here"),
            Field("last_updated", Ignored, "something of Tyk's dashboard"),
            Field("date_created", Ignored, "something of Tyk's dashboard"),
            Field(
                "graphql_access_rights",
                Refused(&[]),
                "queries are not read",
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
        ],
    ],
};
