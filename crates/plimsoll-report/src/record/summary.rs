//! The shape of `summary.json`: the contract for scripts. Additive within a major version; `null` where there is no sample;
//! times in seconds, rates per second, sizes in bytes.

use super::arm::LoadModel;
use super::capacity::CapacitySummary;
use super::cause::Bottleneck;
use super::drift::Drift;
use super::level::LevelSummary;
use super::manifest::{Host, MethodName};
use super::ranges::{RangeSummary, Ranges};
use super::server::ServerStatistics;
use super::strain::{HostStrain, Strain};
use super::times::{Statistic, TimeStatistics, Times};
use crate::threshold::Breach;
use indexmap::IndexMap;
use plimsoll_base::tally::CheckCount;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The value of [`Summary::schema`] in this version.
pub const SUMMARY_SCHEMA: &str = "plimsoll.summary/1";

/// What a run found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// The contract's name and major version.
    pub schema: String,
    /// The experiment's name.
    pub experiment: String,
    /// How it was run.
    pub method: MethodName,
    /// The conclusion and what it rests on.
    pub verdict: Verdict,
    /// The seed of everything random in the run.
    pub seed: u64,
    /// The machine.
    pub host: Host,
    /// What had to hold for the figures to be trusted.
    pub validity: Vec<ValidityRow>,
    /// The experiment's thresholds, in its order.
    pub thresholds: Vec<ThresholdOutcome>,
    /// Bounds of the ranges of response times, in seconds.
    #[serde(default)]
    pub range_bounds: Ranges,
    /// How arms were compared; `null` unless the method is `compare`.
    pub comparison: Option<Comparison>,
    /// Arms that were left out, because a program that they need is not on this host.
    #[serde(default)]
    pub absent: Vec<AbsentArm>,
    /// Arms in the experiment's order.
    pub arms: IndexMap<String, ArmSummary>,
}

/// An arm that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AbsentArm {
    /// The arm.
    pub arm: String,
    /// The component that it needs.
    pub component: String,
    /// One sentence: why it is not there.
    pub reason: String,
}

/// A conclusion with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The conclusion.
    pub result: VerdictResult,
    /// Sentences, the decisive one first.
    pub reasons: Vec<String>,
}

/// What can be concluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerdictResult {
    /// Valid, and every threshold held.
    Passed,
    /// Valid, and a threshold did not hold.
    Failed,
    /// The measurement cannot carry the conclusion that was asked for.
    Invalid,
    /// Valid, but not enough to decide.
    Inconclusive,
    /// There is nothing to conclude from.
    Unknown,
}

impl VerdictResult {
    /// The name used in files and for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Invalid => "invalid",
            Self::Inconclusive => "inconclusive",
            Self::Unknown => "unknown",
        }
    }
}

/// One criterion of validity, judged on one arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValidityRow {
    /// The criterion's number; stable across versions.
    pub criterion: u32,
    /// What it looks at, in a few words.
    pub name: String,
    /// The arm.
    pub arm: String,
    /// The level of `levels` that it concerns; `null` for the whole arm.
    #[serde(default)]
    pub level: Option<String>,
    /// What was found; `null` without a sample.
    pub value: Option<f64>,
    /// What it is held against.
    pub limit: f64,
    /// The unit of both: `share`, `s`, `cores` or `count`.
    pub unit: String,
    /// The side of the limit on which the value must lie.
    #[serde(default)]
    pub sense: Sense,
    /// Whether the criterion holds. It also holds when it reaches no figure, or only ones beyond the p99 or of a part of the service time.
    pub ok: bool,
    /// What follows for the metrics that it concerns.
    pub effect: Effect,
    /// On which side of the truth these metrics may lie.
    #[serde(default)]
    pub bias: Bias,
    /// The metrics below `arms.<arm>` that the effect concerns; empty: all of the arm.
    pub affects: Vec<String>,
    /// One sentence: what this means, and what to do when it does not hold.
    pub advice: String,
}

impl ValidityRow {
    /// What it was judged on: the arm, or one level of it.
    #[must_use]
    pub fn place(&self) -> String {
        match &self.level {
            Some(level) => format!("{} at {level}", self.arm),
            None => self.arm.clone(),
        }
    }
}

/// On which side of the truth a figure may lie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bias {
    /// Nobody knows.
    #[default]
    Either,
    /// It may be too large and is not too small: a limit that it keeps is kept.
    TooLarge,
}

/// The side of a limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sense {
    /// At least the limit.
    AtLeast,
    /// At most the limit.
    #[default]
    AtMost,
}

/// What follows from a criterion for the metrics that it concerns.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing.
    None,
    /// They are shown with a mark.
    Marked,
    /// Nothing may be concluded from them.
    Invalid,
}

/// One threshold of the experiment and whether it held.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThresholdOutcome {
    /// The arm.
    pub arm: String,
    /// The metric, a path below `arms.<arm>`.
    pub metric: String,
    /// The value must be below this; `null` when the threshold is the other way.
    pub below: Option<f64>,
    /// The value must be above this; `null` when the threshold is the other way.
    pub above: Option<f64>,
    /// What was found; `null` without a sample.
    pub value: Option<f64>,
    /// Lower end of its interval; `null` for a quantity without one.
    pub low: Option<f64>,
    /// Upper end of its interval; `null` for a quantity without one.
    pub high: Option<f64>,
    /// The window in which it ended the load; `null` when it did not.
    #[serde(default)]
    pub breach: Option<Breach>,
    /// Whether it held.
    pub result: VerdictResult,
    /// One sentence.
    pub reason: String,
}

/// How arms were compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The arm that others are compared with.
    pub baseline: String,
    /// Blocks that held every arm.
    pub blocks: u32,
    /// Of these, blocks that enter no difference of some arm. A block can also be void for some figures only: see `by_block`.
    pub void_blocks: Vec<u32>,
    /// Confidence of each interval. Intervals are per comparison; verdicts on several arms are corrected for their number by Holm's method.
    pub confidence: f64,
    /// How intervals were computed; `null` when there were too few blocks.
    pub interval: Option<IntervalMethod>,
    /// A difference within this share of the baseline counts as none.
    pub margin_share: f64,
}

/// How an interval was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// Student's t over the differences per block.
    PairedT,
    /// Bootstrap-t over the differences per block.
    BootstrapT,
}

/// What one arm did over all blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArmSummary {
    /// Where its load went.
    pub target: String,
    /// How arrivals came about.
    pub model: LoadModel,
    /// Measured seconds over all blocks, without warm-up.
    pub seconds: f64,
    /// Planned arrivals per second; `null` in the closed model.
    pub offered_per_s: Option<f64>,
    /// Throughput: exchanges that were answered within the measured time, per second of it; `null` when nothing was measured.
    pub achieved_per_s: Option<f64>,
    /// Goodput: of these, the answers that passed their checks.
    #[serde(default)]
    pub good_per_s: Option<f64>,
    /// Arrivals in the measured time.
    pub intended: u64,
    /// Arrivals that were started.
    pub sent: u64,
    /// Exchanges without an outcome at the end.
    pub in_flight: u64,
    /// Exchanges by how they ended.
    pub outcomes: Outcomes,
    /// Exchanges that were not answered by why, below their outcome; what did not happen is absent. An outcome's reasons add up to it.
    #[serde(default)]
    pub reasons: Reasons,
    /// Arrivals that were never started.
    pub dropped: u64,
    /// Connections that were made; `null` in records that do not say.
    #[serde(default)]
    pub connected: Option<u64>,
    /// Kept connections that the target had closed by the time they were needed again, and in whose place another was made before
    /// anything was sent; `null` in records that do not say.
    #[serde(default)]
    pub reconnected: Option<u64>,
    /// Exchanges that were not answered or whose check failed.
    pub failed: u64,
    /// `failed` over all exchanges with a result; `null` when there was none.
    pub failed_share: Option<f64>,
    /// The times.
    #[serde(flatten)]
    pub times: Times,
    /// Response times of what failed otherwise than at its deadline: answers whose checks failed, connections that were refused or lost.
    #[serde(default)]
    pub failed_time: TimeStatistics,
    /// What this arm adds to the baseline; `null` for the baseline and without a comparison.
    pub added: Option<Added>,
    /// Exchanges that passed, by range of their response time.
    #[serde(default)]
    pub ranges: Vec<RangeSummary>,
    /// The same per step of the scenario.
    pub by_step: IndexMap<String, StepSummary>,
    /// Groups of steps, those within others after the name of these: `outer/inner`.
    #[serde(default)]
    pub by_group: IndexMap<String, GroupSummary>,
    /// What failed, by step and kind, the most frequent first.
    #[serde(default)]
    pub failures: Vec<FailureSummary>,
    /// Checks by name, over all steps.
    pub checks: BTreeMap<String, CheckCount>,
    /// Resources by component, over this arm's measured time.
    pub components: IndexMap<String, ComponentSummary>,
    /// The machine over this arm's measured time.
    #[serde(default)]
    pub host: HostStrain,
    /// What gives way first; `null` with `compare`, which does not ask, and where it was not seen.
    #[serde(default)]
    pub bottleneck: Option<Bottleneck>,
    /// The figures of each block.
    pub by_block: Vec<BlockSummary>,
    /// The figures of each level, ascending; empty unless the method is `levels`. The arm's own figures are then those of all levels together.
    #[serde(default)]
    pub levels: Vec<LevelSummary>,
    /// How response times of levels changed with time, where they did; `null` too where there is too little to tell by.
    #[serde(default)]
    pub drift: Option<Drift>,
    /// What the search found; `null` unless the method is `capacity`. The arm's own figures are then those of one trial: the one that stands
    /// for the lower bound.
    #[serde(default)]
    pub capacity: Option<CapacitySummary>,
    /// Sentences that belong beside the figures.
    pub notes: Vec<String>,
}

/// One way in which exchanges of one step failed. An answer whose check failed stands here by its check, and by its status where that
/// is 400 or more; so these do not add up to `failed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailureSummary {
    /// The step.
    pub step: String,
    /// An outcome as in `outcomes`, `status.<status>` or `check.<name>`.
    pub failure: String,
    /// Why there was no answer, as in `reasons.<outcome>`; `null` for an answer, and in records that do not know it.
    #[serde(default)]
    pub reason: Option<String>,
    /// How often.
    pub count: u64,
    /// `count` over all exchanges of the arm with a result; `null` when there was none.
    pub share: Option<f64>,
    /// The second in which it was seen first, in seconds since the run began.
    pub first_s: f64,
    /// The second in which it was seen last, in seconds since the run began.
    pub last_s: f64,
}

/// Exchanges that were not answered: by outcome, and by the name of the reason within it.
pub type Reasons = BTreeMap<String, BTreeMap<String, u64>>;

/// Exchanges by how they ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcomes {
    /// Answers by status.
    pub answered: BTreeMap<String, u64>,
    /// The deadline passed before anything of the answer came.
    pub timed_out: u64,
    /// The deadline passed inside the answer.
    #[serde(default)]
    pub unfinished: u64,
    /// No connection, or no stream of one: the target, or the way to it, said no.
    pub refused: u64,
    /// No connection, for want of a port or a descriptor of the generator's host.
    #[serde(default)]
    pub exhausted: u64,
    /// The target closed in good order before its answer was complete.
    #[serde(default)]
    pub closed: u64,
    /// The connection failed before the answer was complete, most often by a reset.
    pub reset: u64,
    /// TLS failed: in the handshake, or by what the server said of it afterwards.
    pub tls_failed: u64,
    /// What arrived was not a valid answer.
    pub malformed: u64,
    /// Ended by us when the run stopped.
    pub aborted: u64,
}

impl Outcomes {
    /// Exchanges with a result: all but those that we ended ourselves.
    #[must_use]
    pub fn results(&self) -> u64 {
        let not_answered = [
            self.timed_out,
            self.unfinished,
            self.refused,
            self.exhausted,
            self.closed,
            self.reset,
            self.tls_failed,
            self.malformed,
        ];
        self.answered.values().chain(&not_answered).sum()
    }
}

/// Differences to the baseline; `null` where there are not two blocks with a sample in both arms.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Added {
    /// Of the mean.
    pub mean: Option<Difference>,
    /// Of the median.
    pub p50: Option<Difference>,
    /// Of the 75th percentile.
    pub p75: Option<Difference>,
    /// Of the 90th percentile.
    pub p90: Option<Difference>,
    /// Of the 95th percentile.
    pub p95: Option<Difference>,
    /// Of the 99th percentile.
    pub p99: Option<Difference>,
    /// Of the 99.9th percentile.
    pub p999: Option<Difference>,
}

/// The mean over blocks of one figure's difference to the baseline, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// The mean difference; positive: this arm is slower.
    pub value: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
    /// What follows.
    pub verdict: DifferenceVerdict,
    /// The chance of such a difference if there is none; where several arms are compared, corrected for their number by Holm's method. `null`
    /// in records that do not say.
    #[serde(default)]
    pub p: Option<f64>,
    /// The larger p-value of the two one-sided tests that it lies within ± `margin`, corrected likewise.
    #[serde(default)]
    pub p_equivalent: Option<f64>,
    /// A difference within ± this counts as none.
    pub margin: f64,
    /// The smallest difference that this many blocks find with 80 % power at 5 % (two-sided).
    pub minimum_detectable: f64,
    /// Blocks that the figure rests on.
    pub blocks: u32,
    /// Blocks that held both arms; those beyond `blocks` were left out because the figure is void in them.
    #[serde(default)]
    pub planned_blocks: u32,
    /// Why an interval alone does not decide; `null` when it does.
    #[serde(default)]
    pub reservation: Option<Reservation>,
    /// About how many more blocks would decide; `null` when it is decided or no reasonable number would do.
    pub more_blocks: Option<u32>,
}

/// Why a difference is not to be read by its interval alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reservation {
    /// The arms do not fail alike: the figure of one lacks, or holds, exchanges that the other's does not.
    Failures,
}

/// What follows from a difference and its interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceVerdict {
    /// Slower than the baseline.
    Worse,
    /// Within the margin of the baseline.
    Equivalent,
    /// Faster than the baseline.
    Improved,
    /// Not decided by this many blocks.
    Inconclusive,
    /// The measurement cannot carry it.
    Invalid,
}

impl DifferenceVerdict {
    /// The name used in files and for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Equivalent => "equivalent",
            Self::Improved => "improved",
            Self::Inconclusive => "inconclusive",
            Self::Invalid => "invalid",
        }
    }
}

/// One step of the scenario over all blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepSummary {
    /// Exchanges started.
    pub sent: u64,
    /// Exchanges without an outcome at the end.
    pub in_flight: u64,
    /// Exchanges by how they ended.
    pub outcomes: Outcomes,
    /// Exchanges that were not answered by why, below their outcome; what did not happen is absent. An outcome's reasons add up to it.
    #[serde(default)]
    pub reasons: Reasons,
    /// Exchanges that were not answered or whose check failed.
    pub failed: u64,
    /// `failed` over all exchanges with a result; `null` when there was none.
    pub failed_share: Option<f64>,
    /// Exchanges that were answered within the measured time, per second of it.
    pub achieved_per_s: Option<f64>,
    /// Of these, the answers that passed their checks.
    #[serde(default)]
    pub good_per_s: Option<f64>,
    /// Intended start to last byte of good answers, and what was given up as lower bounds.
    pub response_time: TimeStatistics,
    /// Response times of what failed otherwise than at its deadline.
    #[serde(default)]
    pub failed_time: TimeStatistics,
    /// First byte sent to last byte received.
    pub service_time: TimeStatistics,
    /// Of the service time of an answered exchange: first byte sent to first byte received.
    #[serde(default)]
    pub first_byte_time: TimeStatistics,
    /// Of the service time of an answered exchange: first byte received to last; zero for an answer that came at once.
    #[serde(default)]
    pub body_time: TimeStatistics,
    /// Exchanges that passed, by range of their response time.
    #[serde(default)]
    pub ranges: Vec<RangeSummary>,
    /// Checks by name.
    pub checks: BTreeMap<String, CheckCount>,
    /// Bytes written to the wire.
    pub bytes_sent: u64,
    /// Bytes read from the wire.
    pub bytes_received: u64,
}

/// The passes of iterations through one group of steps, over all blocks. An iteration that ends early leaves the groups that it is in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupSummary {
    /// Passes that ended.
    pub count: u64,
    /// Those in which an exchange was not answered or its check failed.
    pub failed: u64,
    /// `failed` over all passes; `null` when there was none.
    pub failed_share: Option<f64>,
    /// Passes that ended within the measured time, per second of it.
    pub achieved_per_s: Option<f64>,
    /// From the beginning of a pass to its end, pauses included.
    pub duration: TimeStatistics,
    /// The response times of a pass's exchanges, added up: pauses are in none.
    pub cumulated_response_time: TimeStatistics,
}

/// One component during one arm's measured time. `null` without a sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComponentSummary {
    /// Mean CPU in cores.
    pub cpu_cores_mean: Option<f64>,
    /// Most CPU in one sample.
    pub cpu_cores_max: Option<f64>,
    /// Most CPU of one thread in one sample.
    pub busiest_thread_cores_max: Option<f64>,
    /// Most resident memory.
    pub rss_bytes_max: Option<u64>,
    /// Most open descriptors.
    pub fds_max: Option<u64>,
    /// Most threads.
    pub threads_max: Option<u64>,
    /// What else may have held others up.
    #[serde(flatten)]
    pub strain: Strain,
    /// What it said of itself; absent where it is no server whose statistics were read.
    #[serde(default, skip_serializing_if = "ServerStatistics::is_empty")]
    pub server: ServerStatistics,
}

/// One block of one arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockSummary {
    /// The block, from 1.
    pub block: u32,
    /// Exchanges that were answered within the measured time, per second of it.
    pub achieved_per_s: Option<f64>,
    /// Of these, the answers that passed their checks.
    #[serde(default)]
    pub good_per_s: Option<f64>,
    /// Exchanges that were not answered or whose check failed.
    pub failed: u64,
    /// Response times of the block.
    pub response_time: TimeStatistics,
    /// Figures of this block that enter no difference, because a criterion of validity reaches them.
    #[serde(default)]
    pub void_for: Vec<Statistic>,
}

impl Added {
    /// One difference.
    #[must_use]
    pub fn get(&self, statistic: Statistic) -> Option<&Difference> {
        match statistic {
            Statistic::Mean => self.mean.as_ref(),
            Statistic::P50 => self.p50.as_ref(),
            Statistic::P75 => self.p75.as_ref(),
            Statistic::P90 => self.p90.as_ref(),
            Statistic::P95 => self.p95.as_ref(),
            Statistic::P99 => self.p99.as_ref(),
            Statistic::P999 => self.p999.as_ref(),
        }
    }

    /// One difference, to change it.
    pub fn get_mut(&mut self, statistic: Statistic) -> Option<&mut Difference> {
        match statistic {
            Statistic::Mean => self.mean.as_mut(),
            Statistic::P50 => self.p50.as_mut(),
            Statistic::P75 => self.p75.as_mut(),
            Statistic::P90 => self.p90.as_mut(),
            Statistic::P95 => self.p95.as_mut(),
            Statistic::P99 => self.p99.as_mut(),
            Statistic::P999 => self.p999.as_mut(),
        }
    }
}
