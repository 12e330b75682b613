//! One policy of `policies.json` (`user/policy.go`).

use super::Class::{Ignored, Refused, Supported};
use super::{Field, Kind, access_rights};

pub(super) const KIND: Kind = Kind {
    name: "a policy",
    fields: &[
        &[
            Field("_id", Ignored, "a policy goes by its name in the file"),
            Field("id", Ignored, "a policy goes by its name in the file"),
            Field("name", Ignored, "a name for people"),
            Field(
                "org_id",
                Ignored,
                "a policy holds for keys of every organisation",
            ),
            Field(
                "rate",
                Supported,
                "of several policies the most generous counts",
            ),
            Field("per", Supported, "seconds"),
            Field("quota_max", Supported, "-1 and 0: none"),
            Field("quota_renewal_rate", Supported, "seconds"),
        ],
        access_rights::FIELDS,
        &[
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
                "none of the four: all of them",
            ),
            Field("partitions.rate_limit", Supported, ""),
            Field("partitions.acl", Supported, ""),
            Field(
                "partitions.per_api",
                Supported,
                "as `acl`: an API's allowance counts where it is written",
            ),
            Field("partitions.complexity", Ignored, "queries are not read"),
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
                "meta_data",
                Ignored,
                "a value that would use them is refused",
            ),
            Field("last_updated", Ignored, "something of Tyk's dashboard"),
            Field("date_created", Ignored, "something of Tyk's dashboard"),
            Field(
                "graphql_access_rights",
                Refused(&[]),
                "queries are not read",
            ),
            Field(
                "post_expiry_action",
                Ignored,
                "an expired key stays until it is deleted",
            ),
            Field(
                "post_expiry_grace_period",
                Ignored,
                "an expired key stays until it is deleted",
            ),
        ],
    ],
};
