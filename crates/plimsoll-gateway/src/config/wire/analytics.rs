//! Records of requests and spans of traces as they are written.

use super::secrets::SecretText;
use deserr::Deserr;
use plimsoll_base::document::{BytesText, DurationText, ShareText};
use schemars::JsonSchema;

/// Where records of requests go: at least one of `file`, `stdout`, `redis`, `postgresql` and `otlp`.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(in crate::config) struct AnalyticsBlock {
    /// Path of a JSON Lines file; records are appended.
    #[deserr(default)]
    pub(in crate::config) file: Option<String>,
    /// JSON Lines on standard output.
    #[deserr(default)]
    #[schemars(default)]
    pub(in crate::config) stdout: bool,
    /// How these lines are written.
    #[deserr(default)]
    #[schemars(default)]
    pub(in crate::config) form: FormWord,
    /// A list in Redis, which tyk-pump can read.
    #[deserr(default)]
    pub(in crate::config) redis: Option<RedisBlock>,
    /// A table in PostgreSQL.
    #[deserr(default)]
    pub(in crate::config) postgresql: Option<PostgresqlBlock>,
    /// A collector of logs, by OTLP over HTTP.
    #[deserr(default)]
    pub(in crate::config) otlp: Option<OtlpBlock>,
    /// Record whole requests and responses, in Tyk's form and in PostgreSQL. What proves who a client is, is left out of them.
    #[deserr(default)]
    pub(in crate::config) detailed: Option<DetailedBlock>,
    /// Names of fields and parameters, or words of such names, whose values are not recorded besides those that never are: `iban` is `X-Iban` and
    /// `senderIban`.
    #[deserr(default)]
    #[schemars(default)]
    pub(in crate::config) redact: Vec<String>,
    /// Where records wait on disk for a server that is away; without this in memory alone, up to 65,536 for each.
    #[deserr(default)]
    pub(in crate::config) spool: Option<SpoolBlock>,
}

/// How a record is written as a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserr, JsonSchema)]
#[deserr(rename_all = lowercase)]
#[schemars(rename_all = "lowercase")]
pub(in crate::config) enum FormWord {
    /// In our own words.
    #[default]
    Own,
    /// As Tyk's analytics record, with our times in microseconds beside Tyk's.
    Tyk,
}

/// A list in Redis.
#[derive(Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(in crate::config) struct RedisBlock {
    /// `redis://user@host:port/database`.
    pub(in crate::config) url: String,
    /// The user's password, or that of Redis itself.
    #[deserr(default)]
    pub(in crate::config) password: Option<SecretText>,
    /// The list (default `analytics-tyk-system-analytics`, which tyk-pump reads).
    #[deserr(default)]
    pub(in crate::config) key: Option<String>,
    /// How a record is written.
    #[deserr(default)]
    #[schemars(default)]
    pub(in crate::config) form: RedisFormWord,
    /// After what time without a new record the list goes (default 1h; 0: never).
    #[deserr(default)]
    pub(in crate::config) expires: Option<DurationText>,
}

/// Without the URL, which may wrongly have a password in it.
impl std::fmt::Debug for RedisBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedisBlock")
            .field("password", &self.password)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// How a record is written in Redis: Tyk's record either way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserr, JsonSchema)]
#[deserr(rename_all = lowercase)]
#[schemars(rename_all = "lowercase")]
pub(in crate::config) enum RedisFormWord {
    /// MessagePack, as tyk-pump reads it.
    #[default]
    Msgpack,
    /// JSON.
    Json,
}

/// A table in PostgreSQL, made if it is missing.
#[derive(Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(in crate::config) struct PostgresqlBlock {
    /// `postgresql://user@host:port/database`, in plaintext.
    pub(in crate::config) url: String,
    /// The user's password.
    #[deserr(default)]
    pub(in crate::config) password: Option<SecretText>,
    /// The table, perhaps with its schema (default `plimsoll_analytics`).
    #[deserr(default)]
    pub(in crate::config) table: Option<String>,
}

/// Without the URL, which may wrongly have a password in it.
impl std::fmt::Debug for PostgresqlBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresqlBlock")
            .field("password", &self.password)
            .field("table", &self.table)
            .finish_non_exhaustive()
    }
}

/// A collector.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(in crate::config) struct OtlpBlock {
    /// `http://host:4318`; `/v1/logs` unless a path is written.
    pub(in crate::config) endpoint: String,
}

/// Requests and responses in full.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(in crate::config) struct DetailedBlock {
    /// Bytes of each body that are recorded (default 16KiB, at most 1MiB).
    #[deserr(default)]
    pub(in crate::config) body: Option<BytesText>,
}

/// Records on disk.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(in crate::config) struct SpoolBlock {
    /// A directory, made if it is missing; this gateway's alone.
    pub(in crate::config) directory: String,
    /// How much may wait for each server (default 256MiB, at least 1MiB). What comes beyond is lost, and counted.
    #[deserr(default)]
    pub(in crate::config) bytes: Option<BytesText>,
}

/// Spans of traces, by OTLP over HTTP.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(in crate::config) struct TracingBlock {
    /// The collector, `http://host:4318`; `/v1/traces` unless a path is written.
    pub(in crate::config) endpoint: String,
    /// This gateway's name there (default `plimsoll-gateway`).
    #[deserr(default)]
    pub(in crate::config) service: Option<String>,
    /// Which share of traces gets spans, `1%` (default 100%). By the trace's id, so that all gateways choose the same ones; a trace of which the
    /// client says that it is not sampled gets none.
    #[deserr(default)]
    pub(in crate::config) sample: Option<ShareText>,
    /// Tell upstreams of the span, in place of the client's own, where there is one; otherwise `traceparent` passes as it came, always.
    #[deserr(default)]
    #[schemars(default)]
    pub(in crate::config) propagate: bool,
}
