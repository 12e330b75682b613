//! Parts of an arm in `summary.json`: outcomes and failures, steps, groups and components.

use crate::record::component::server::ServerStatistics;
use crate::record::component::strain::Strain;
use crate::record::figures::figures;
use crate::record::summary::ranges::RangeSummary;
use crate::record::times::{TimeStatistics, times};
use plimsoll_base::tally::CheckCount;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// An answer arrived that was not valid.
    pub malformed: u64,
    /// Ended by us when the run stopped.
    pub aborted: u64,
}

figures!(Outcomes {
    timed_out: Count,
    unfinished: Count,
    refused: Count,
    exhausted: Count,
    closed: Count,
    reset: Count,
    tls_failed: Count,
    malformed: Count,
    aborted: Count,
});

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

figures!(StepSummary {
    sent: Count,
    in_flight: Count,
    failed: Count,
    failed_share: Share,
    achieved_per_s: PerSecond,
    good_per_s: PerSecond,
    bytes_sent: Bytes,
    bytes_received: Bytes,
});

times!(StepSummary {
    response_time,
    failed_time,
    service_time,
    first_byte_time,
    body_time,
});

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

figures!(GroupSummary {
    count: Count,
    failed: Count,
    failed_share: Share,
    achieved_per_s: PerSecond,
});

times!(GroupSummary {
    duration,
    cumulated_response_time,
});

/// One component during one arm's measured time. `null` without a sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComponentSummary {
    /// Mean CPU in cores.
    pub cpu_cores_mean: Option<f64>,
    /// Most CPU in one sample.
    pub cpu_cores_max: Option<f64>,
    /// CPU seconds per exchange that was answered within the measured time.
    #[serde(default)]
    pub cpu_s_per_exchange: Option<f64>,
    /// Most CPU of one thread in one sample.
    pub busiest_thread_cores_max: Option<f64>,
    /// Most resident memory.
    pub rss_bytes_max: Option<u64>,
    /// Most open descriptors.
    pub fds_max: Option<u64>,
    /// Most threads.
    pub threads_max: Option<u64>,
    /// Resources beside these that may have held others up.
    #[serde(flatten)]
    pub strain: Strain,
    /// Its own statistics; absent where it is no server whose statistics were read.
    #[serde(default, skip_serializing_if = "ServerStatistics::is_empty")]
    pub server: ServerStatistics,
}

figures!(ComponentSummary {
    cpu_cores_mean: Cores,
    cpu_cores_max: Cores,
    cpu_s_per_exchange: Seconds,
    busiest_thread_cores_max: Cores,
    rss_bytes_max: Bytes,
    fds_max: Count,
    threads_max: Count,
});
