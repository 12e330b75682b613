//! A rule as it is written: which paths and methods, and exactly one thing that holds for them.

use super::secrets::SecretText;
use deserr::Deserr;
use plimsoll_base::document::{BytesText, DurationText, Entries, ShareText, Text};
use schemars::JsonSchema;

/// Rules for some paths of a route. Exactly one of `reply`, `exempt`, `deny`, `allow`, `body`, `timeout`, `breaker`,
/// `request_fields` and `response_fields`.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(in crate::config) struct RuleBlock {
    /// Below the route's path, whole segments: `/admin` covers `/admin` and `/admin/x`; `{name}` stands for one segment, `/` for all.
    pub(in crate::config) at: String,
    /// Only these methods; any when left out.
    #[deserr(default)]
    #[schemars(default)]
    pub(in crate::config) methods: Vec<String>,
    /// Answer this, without an upstream.
    #[deserr(default)]
    pub(in crate::config) reply: Option<ReplyBlock>,
    /// `true`: no key is demanded here and no limit counts.
    #[deserr(default)]
    pub(in crate::config) exempt: Option<bool>,
    /// `true`: 403.
    #[deserr(default)]
    pub(in crate::config) deny: Option<bool>,
    /// `true`: open. As soon as one rule allows, whatever none allows is denied.
    #[deserr(default)]
    pub(in crate::config) allow: Option<bool>,
    /// How long a request's body may be; it must state its length.
    #[deserr(default)]
    pub(in crate::config) body: Option<BytesText>,
    /// Overrides the upstream's `response_head_timeout`.
    #[deserr(default)]
    pub(in crate::config) timeout: Option<DurationText>,
    /// 503 at once when too many exchanges failed.
    #[deserr(default)]
    pub(in crate::config) breaker: Option<BreakerBlock>,
    /// Header fields of the forwarded request.
    #[deserr(default)]
    pub(in crate::config) request_fields: Option<FieldsBlock>,
    /// Header fields of the upstream's response.
    #[deserr(default)]
    pub(in crate::config) response_fields: Option<FieldsBlock>,
}

/// A fixed answer.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(in crate::config) struct ReplyBlock {
    /// 200 to 599.
    pub(in crate::config) status: u16,
    /// Header fields.
    #[deserr(default)]
    #[schemars(default)]
    pub(in crate::config) fields: Entries<Text>,
    /// The whole body.
    #[deserr(default)]
    #[schemars(default)]
    pub(in crate::config) body: String,
}

/// When a breaker opens. Failed is what the upstream answers with 500 and above, and what it does not answer.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(in crate::config) struct BreakerBlock {
    /// It opens when this share of the exchanges within ten seconds failed, `50%`.
    pub(in crate::config) failure_ratio: ShareText,
    /// With fewer exchanges it does not judge.
    pub(in crate::config) samples: u32,
    /// How long it rejects; then one exchange tries for all.
    pub(in crate::config) open_for: DurationText,
}

/// Header fields that are removed and set.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(in crate::config) struct FieldsBlock {
    /// Names of fields that are left out.
    #[deserr(default)]
    #[schemars(default)]
    pub(in crate::config) remove: Vec<String>,
    /// Fields that replace those of the same name.
    #[deserr(default)]
    #[schemars(default)]
    pub(in crate::config) set: Entries<SecretText>,
}
