//! The shard map's file as it is written.

use deserr::Deserr;
use plimsoll_base::document::Entries;
use schemars::JsonSchema;

/// Whose data is where.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields, title = "Plimsoll shard map")]
pub(crate) struct ShardMapFile {
    /// Version of this format: 1.
    pub(super) version: u32,
    /// Version of this map. Whoever changes the map counts it up; a reload refuses another map under the same version, and an older one.
    pub(super) map_version: u64,
    /// The shards, by name. At least one.
    pub(super) shards: Entries<ShardBlock>,
    /// Identities and their shards. What is named here wins over every prefix.
    #[deserr(default)]
    #[schemars(default)]
    pub(super) exact: Vec<EntryBlock>,
    /// Prefixes of identities; the longest one wins.
    #[deserr(default)]
    #[schemars(default)]
    pub(super) prefix: Vec<EntryBlock>,
    /// The shard of whoever is in neither; without it they are refused with 403.
    #[deserr(default)]
    pub(super) default: Option<String>,
}

/// A part of the data.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct ShardBlock {
    /// Name of the upstream that keeps it.
    pub(super) upstream: String,
}

/// An identity, or what it begins with: `uri`, `dns`, `issuer` and `cn`, or `sha256` (which is exact only).
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct EntryBlock {
    /// A URI among the certificate's alternative names. A prefix ends with `/` or `:`.
    #[deserr(default)]
    pub(super) uri: Option<String>,
    /// A host name among them, in any case of letters.
    #[deserr(default)]
    pub(super) dns: Option<String>,
    /// The subject's common name; needs `issuer`.
    #[deserr(default)]
    pub(super) cn: Option<String>,
    /// The issuer as RFC 4514 writes it, as `openssl x509 -noout -issuer -nameopt RFC2253` does.
    #[deserr(default)]
    pub(super) issuer: Option<String>,
    /// SHA-256 of the certificate in DER, 64 hexadecimal digits.
    #[deserr(default)]
    pub(super) sha256: Option<String>,
    /// Name of the shard.
    pub(super) shard: String,
    /// A move to another shard that is under way.
    #[deserr(default)]
    pub(super) moving: Option<MovingBlock>,
}

/// A move under way.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct MovingBlock {
    /// Name of the shard that it leads to.
    pub(super) to: String,
    /// How far it is.
    pub(super) phase: PhaseWord,
}

/// How far a move is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, JsonSchema)]
#[deserr(rename_all = lowercase)]
#[schemars(rename_all = "lowercase")]
pub(super) enum PhaseWord {
    /// Requests go to both shards: the old one answers, what the new one makes of them is counted.
    Mirroring,
    /// Requests that change something wait until a later map has ended the move; those that read go on at the old shard. Only what is
    /// frozen may get its new shard with the next version of the map.
    Frozen,
}
