//! A file of figures as it is written: one struct per block, every field with the text that its JSON Schema shows.

use deserr::Deserr;
use plimsoll_base::document::{DurationText, Entries, OneOrMany, RateText, Scalar, ShareText};
use schemars::JsonSchema;

/// Published figures of a load test, for `plimsoll diagnose`.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields, title = "Plimsoll figures")]
pub(super) struct FiguresFile {
    /// Version of this format: 1.
    pub(super) version: u32,
    /// Name of the tested system.
    pub(super) name: String,
    /// Figures at each load, by name.
    #[deserr(default)]
    #[schemars(default)]
    pub(super) observations: Entries<ObservationBlock>,
    /// Faults that were injected, and how often each is expected.
    #[deserr(default)]
    pub(super) faults: Option<FaultsBlock>,
}

/// Figures at one load. All of them may be left out.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct ObservationBlock {
    /// Name of the build and place, where observations differ in more than their load: those of one setup are compared as levels.
    #[deserr(default)]
    pub(super) setup: Option<String>,
    /// The rate that was to be offered, `300/s`.
    #[deserr(default)]
    pub(super) offered: Option<RateText>,
    /// The rate that was answered.
    #[deserr(default)]
    pub(super) rate: Option<RateText>,
    /// Users, or connections, each with one request at a time.
    #[deserr(default)]
    pub(super) users: Option<u64>,
    /// How long a user waits between two requests: `1s`, or the shortest and the longest, `[5s, 30s]`.
    #[deserr(default)]
    pub(super) think: Option<OneOrMany<DurationText>>,
    /// How long it was measured.
    #[deserr(default)]
    pub(super) duration: Option<DurationText>,
    /// Requests in all.
    #[deserr(default)]
    pub(super) requests: Option<u64>,
    /// Connections that were open at the target.
    #[deserr(default)]
    pub(super) connections: Option<u64>,
    /// The shortest response time.
    #[deserr(default)]
    pub(super) min: Option<DurationText>,
    /// The mean response time.
    #[deserr(default)]
    pub(super) mean: Option<DurationText>,
    /// The longest response time.
    #[deserr(default)]
    pub(super) max: Option<DurationText>,
    /// The share of requests that failed, or `some` or `none` where the source says no more.
    #[deserr(default)]
    #[schemars(with = "Option<String>")]
    pub(super) failed: Option<Scalar>,
    /// The observation whose rate was not exceeded, where the source says only that.
    #[deserr(default)]
    pub(super) no_more_than: Option<String>,
    /// The program that sent the load.
    #[deserr(default)]
    pub(super) generator: Option<GeneratorBlock>,
    /// Components that the requests went through, by name.
    #[deserr(default)]
    #[schemars(default)]
    pub(super) components: Entries<ProcessorsBlock>,
    /// A pool of connections that requests need.
    #[deserr(default)]
    pub(super) pool: Option<PoolBlock>,
}

/// The load generator.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct GeneratorBlock {
    /// Its name: `hey`.
    #[deserr(default)]
    pub(super) tool: Option<String>,
    /// The share of its processors' time that it used: `25%`, `below 25%`, `above 100%`, or `idle` where the source says no more.
    #[deserr(default)]
    #[schemars(with = "Option<String>")]
    pub(super) cpu: Option<Scalar>,
    /// How many processors it had.
    #[deserr(default)]
    pub(super) cpus: Option<f64>,
}

/// How busy a component was.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct ProcessorsBlock {
    /// The share of its processors' time that it used: `97%` of two processors are 1.94. Also `below 25%`, `above 100%`, and `idle` where the
    /// source says no more.
    #[schemars(with = "String")]
    pub(super) cpu: Scalar,
    /// How many processors it had.
    #[deserr(default)]
    pub(super) cpus: Option<f64>,
}

/// A pool.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct PoolBlock {
    /// How many it gives out at most.
    pub(super) size: u64,
    /// How long it is waited for one.
    pub(super) timeout: DurationText,
}

/// Faults, and the load under which they were injected.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct FaultsBlock {
    /// Requests per second meanwhile.
    #[deserr(default)]
    pub(super) rate: Option<RateText>,
    /// The availability that was concluded from them: `99.9999%`.
    #[deserr(default)]
    pub(super) claimed: Option<ShareText>,
    /// How long it takes to repair what does not come back by itself.
    #[deserr(default)]
    pub(super) repair: Option<DurationText>,
    /// Each kind of fault, by name.
    pub(super) kinds: Entries<FaultBlock>,
}

/// One kind of fault.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(super) struct FaultBlock {
    /// How long answers were wrong after one.
    pub(super) outage: DurationText,
    /// Machines that may have it; none where it is a fault of the whole.
    #[deserr(default)]
    pub(super) servers: Option<u64>,
    /// The share of requests that one hits: `1/9`, `11%`.
    #[schemars(with = "String")]
    pub(super) impact: Scalar,
    /// How often one machine, or the whole, has it in a year.
    pub(super) per_year: f64,
    /// How often it was tried.
    #[deserr(default)]
    pub(super) trials: Option<u32>,
}
