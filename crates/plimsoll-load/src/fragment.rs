//! The generator's output while it runs: one [`Message`] per line of JSON.
//!
//! A [`Fragment`] is what happened in one second, over all shards. Fragments of a run merge by adding counts and
//! histograms; gauges (`in_flight`, `waiting`, `connections`) hold at the end of the fragment. An exchange is recorded in the second
//! in which it *ends*, on the side (warm-up or measured) on which its iteration's *intended start* lies; so one second may have
//! a fragment for each side.

use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::single_exchange::SingleExchange;
use plimsoll_base::tally::{GroupTally, StepTally, Times};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::CStr;

/// The name of the canary's thread: it is no shard, and carries out a small part of an open load.
pub const CANARY_THREAD: &CStr = c"canary";

/// Everything that the generator says. First one `Started`, last one `Finished` or `Failed`, between them fragments in
/// ascending order of second, the warm-up's before the measured one's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Message {
    /// The load is about to begin.
    Started(Started),
    /// The results of one second.
    Fragment(Fragment),
    /// Exchanges that ended, one by one, of one shard and one second: only of a plan that asks for them.
    Exchanges(Vec<SingleExchange>),
    /// The load ended and its accounts are exact.
    Finished(Accounts),
    /// The load could not be carried out, for this reason.
    Failed(String),
}

/// The plan as the generator understood it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Started {
    /// Threads in use; a canary is none of them.
    pub shards: usize,
    /// Virtual users over all shards.
    pub users: u32,
    /// The origin of every time of the run, in nanoseconds of this host's `CLOCK_MONOTONIC`; up to a tenth of a second ahead of this message.
    pub start_monotonic_ns: u64,
}

/// The results of one second, over all shards.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fragment {
    /// Whole seconds from the start of the load to the start of this second, warm-up included.
    pub second: u32,
    /// Seconds from the start of the load to where this fragment's side begins within the second.
    pub start_s: f64,
    /// Seconds of its side's phase that the second covers: 1 within the phase, less at its edges, **0 after its end** (exchanges that end
    /// late). The lengths of a side add up to the length of its phase.
    pub length_s: f64,
    /// Seconds that it covers, of its side's phase or after it: what ended in them is in it. 1, or less where a phase ends within the second: then
    /// it has a fragment before and one after.
    pub covered_s: f64,
    /// Whether these iterations were intended to start in the warm-up.
    pub warmup: bool,
    /// Arrivals that the plan puts into this part of the second, whether anyone was there to release them or not; `None` in
    /// the closed model, which has no schedule. Over a load that ran to its end `due` and `intended` have the same sum.
    pub due: Option<u64>,
    /// Arrivals that came due, counted when they were released: as much less than `due` as the generator fell behind its plan.
    pub intended: u64,
    /// Iterations that started.
    pub sent: u64,
    /// Arrivals that never started: beyond the queue's cap, or still waiting one second after the load ended (at once, if it was stopped).
    pub dropped: u64,
    /// The part of `dropped` that is the generator's fault: the arrival was released more than a millisecond after its intended
    /// start, in a release that began with an idle virtual user or a place in the queue. Released in time, it might have
    /// started; together with what we had held back, it found everything taken. The rest of `dropped` is the target's doing:
    /// all users were busy with it, and the queue was full, before the release began.
    pub dropped_late: u64,
    /// The most arrivals that were due and not yet released at any one moment of the second, added up over the shards (whose worst
    /// moments need not be the same, so it is an upper bound). Over a second, a load or a run, the largest value divided
    /// by all its arrivals is the Kolmogorov-Smirnov distance between the releases and the plan: arrivals are never early. Arrivals that the
    /// plan has in one moment count as one here: that they are released together is as planned.
    pub behind: u64,
    /// How long the generator itself stalled.
    pub stalls: Stalls,
    /// The part of `dropped` that was still waiting then.
    pub unstarted: u64,
    /// Iterations under way at the end of the second.
    pub in_flight: u64,
    /// Iterations under way, integrated over the second: iteration-seconds. The integral over a whole load is the sum of its
    /// iteration times without their pacing lag and connection wait (Little's law).
    pub in_flight_s: f64,
    /// Arrivals waiting for an idle virtual user at the end of the second.
    pub waiting: u64,
    /// Open connections at the end of the second, whichever side uses them.
    pub connections: u64,
    /// Connections that were established.
    pub connected: u64,
    /// Idle connections that the server had closed and that were replaced before anything was sent.
    pub reconnected: u64,
    /// Connection attempts that failed for want of a local port, descriptor or memory; each is also an `exhausted` exchange.
    pub exhausted: u64,
    /// Times of iterations: `iteration_time`, `connection_wait`, `pacing_lag`; and of connections: `connect_time`, and of that
    /// `dns_time`, `tcp_time` and `tls_time`.
    pub iterations: Times,
    /// Service times of the canary's exchanges, which also stand among those of their steps and classes: of all steps and of the classes
    /// whose times are published. `None` without a canary, as in the closed model, and where it has none.
    pub canary: Option<TimeHistogram>,
    /// One per step of the plan, in its order.
    pub steps: Vec<StepTally>,
    /// By group, named with those around it: the passes that ended. An iteration that ends early leaves the groups that it is in; one that
    /// was cut off by the end of the run does not. A group without a pass is absent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub groups: BTreeMap<String, GroupTally>,
}

/// For how long the generator stalled although it should have been at work, as its watchdog saw it: a shard was overdue or the whole
/// process was. Only 5 ms and more count, and up to 5 ms at either end may be missed. It belongs to the second in which it is seen; one
/// that lasts is seen every 5 ms, if the watchdog can run, and else as a whole when it can again.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stalls {
    /// The longest, in seconds, as far as it has been seen; of merged fragments the largest.
    pub longest_s: f64,
    /// The sum of all, in seconds; several shards that stand still at once count once.
    pub total_s: f64,
}

/// The totals of a run, exact: see [`PhaseAccounts`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accounts {
    /// Iterations intended to start in the warm-up.
    pub warmup: PhaseAccounts,
    /// Iterations intended to start after it.
    pub measured: PhaseAccounts,
    /// Seconds from the start of the load to where arrivals ended: the plan's total, or less if stopped.
    pub ended_s: f64,
    /// Whether the run was stopped before its time.
    pub stopped: bool,
    /// Feeders that had no row for an iteration that needed one, in the order of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feeders_ended: Vec<FeederEnd>,
}

/// A feeder all of whose rows were dealt, and which does not deal them again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeederEnd {
    /// Its name.
    pub feeder: String,
    /// How many rows it had.
    pub rows: u32,
    /// When an iteration found none first, in seconds since the start of the load.
    pub at_s: f64,
    /// Whether that is an error and ended the load. Otherwise users who would have got a row stopped.
    pub failed: bool,
}

/// The totals of one side. Always `intended = sent + dropped`; per step `sent = Σ classes`; nothing is in flight or waiting any more.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseAccounts {
    /// Arrivals that came due.
    pub intended: u64,
    /// Iterations that started.
    pub sent: u64,
    /// Arrivals that never started.
    pub dropped: u64,
    /// The part of `dropped` that was still waiting a second after the load ended.
    pub unstarted: u64,
    /// Connection attempts that failed for want of a local port or descriptor.
    pub exhausted: u64,
    /// One per step of the plan, in its order.
    pub steps: Vec<StepAccounts>,
}

/// The totals of one step on one side.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepAccounts {
    /// Exchanges that began.
    pub sent: u64,
    /// Exchanges that ended, by outcome class; a class without one is absent.
    pub classes: BTreeMap<OutcomeClass, u64>,
}
