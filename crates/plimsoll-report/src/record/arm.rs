//! One arm in one block: counters, histograms and resource totals, all of which merge exactly.

use super::Completions;
use super::cause::PlanFacts;
use super::component::ComponentData;
use super::failure::Failures;
use super::fault::FaultRow;
use super::health::GeneratorHealth;
use super::own_times::OwnTimes;
use crate::record::component::strain::HostData;
use indexmap::IndexMap;
use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::tally::{GroupTally, StepTally, Times, merge_times};
use plimsoll_base::time_kind::TimeKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Whether arrivals are independent of completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadModel {
    /// Arrivals come by schedule, whatever the target does.
    Open,
    /// A virtual user's next iteration waits for the end of its last: stalls are under-sampled.
    Closed,
}

/// All blocks of one arm, keyed by block number from 1. `measure` has one block.
#[derive(Debug, Clone)]
pub struct ArmBlocks {
    /// The arm's name in the experiment.
    pub name: String,
    /// The arm's data per block. Blocks with the same number are compared with each other.
    pub blocks: BTreeMap<u32, ArmData>,
    /// Sentences that were said of the arm before it ran: the first of its notes in the summary.
    pub notes: Vec<String>,
}

/// A full second in which a smaller share than this of its arrivals was released was not loaded as planned.
pub const SECOND_RELEASED: f64 = 0.95;

/// Results of one arm in the measured time (without warm-up) of one block.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmData {
    /// The arm's name in the experiment.
    pub name: String,
    /// Where its load went, as written in the experiment.
    pub target: String,
    /// How arrivals came about.
    pub model: LoadModel,
    /// The planned mean arrival rate, iterations per second; `None` in the closed model.
    pub offered_per_s: Option<f64>,
    /// Limits of the plan.
    pub plan: PlanFacts,
    /// The shortest service time of an answered exchange in seconds, the warm-up's included: nearly what one takes that waits for nobody.
    pub fastest_service_s: Option<f64>,
    /// Measured time in seconds.
    pub seconds: f64,
    /// Arrivals that the plan put into the measured time.
    pub intended: u64,
    /// Of these, those that a schedule put there: in the open model all, in the closed one those of the scenarios beside that are open.
    pub scheduled: u64,
    /// Arrivals that were started. `intended = sent + dropped`.
    pub sent: u64,
    /// Arrivals that were never started, for whatever reason.
    pub dropped: u64,
    /// Of `dropped`, those that the generator released too late to find a connection that might have been free in time, as opposed
    /// to those for which every allowed connection was busy. (Without a port or descriptor an exchange ends as exhausted, and is not dropped.)
    pub dropped_by_generator: u64,
    /// Connections that were made for these arrivals.
    pub connected: u64,
    /// Kept connections that the target had closed by the time they were needed again.
    pub reconnected: u64,
    /// Of these arrivals, what ended only after the measured time: it is no throughput.
    pub late: Completions,
    /// Of the warm-up's arrivals, what ended within the measured time: a target that cannot keep up is still serving them then.
    pub of_warmup: Completions,
    /// The smallest share of arrivals due in one second that were released in it; `None` before the first [`Self::observe_second`].
    pub worst_second: Option<f64>,
    /// Full seconds with arrivals that were observed.
    pub seconds_observed: u32,
    /// Of these, those in which less than [`SECOND_RELEASED`] of the arrivals were released.
    pub seconds_short: u32,
    /// How the backlog changed over the second half; `None` where no two full seconds were observed.
    pub backlog: Option<Backlog>,
    /// Iterations under way, integrated over the measured time, in seconds: over its length it is their mean number.
    pub in_flight_s: f64,
    /// Times that belong to iterations and connections, not to a step: iteration time, connection wait, pacing lag, connect time.
    pub times: Times,
    /// Steps in the scenario's order, by name.
    pub steps: IndexMap<String, StepTally>,
    /// Groups of steps in the scenario's order, by name; those within others after the name of these: `outer/inner`.
    pub groups: IndexMap<String, GroupTally>,
    /// Failures, and when they happened.
    pub failures: Failures,
    /// Resources per component, and of the generator under [`super::GENERATOR`].
    pub components: IndexMap<String, ComponentData>,
    /// Components of which no resources are known, and why.
    pub unseen: BTreeMap<String, String>,
    /// The machine.
    pub host: HostData,
    /// Times that our own mocks and gateways took of themselves, by component.
    pub own_times: IndexMap<String, OwnTimes>,
    /// Counts of our own mock or gateway, one per block in which it was the target.
    pub ledgers: Vec<TargetLedger>,
    /// Facts of the generator's own health.
    pub health: GeneratorHealth,
    /// Faults that happened, each with the figures of its callers.
    pub faults: Vec<FaultRow>,
    /// The seconds in which no fault happened; `None` where none was to happen at all.
    pub undisturbed: Option<Box<ArmData>>,
}

/// One full second of load, for [`ArmData::observe_second`].
#[derive(Debug, Clone, Copy)]
pub struct Second {
    /// Arrivals due in it.
    pub intended: u64,
    /// Arrivals started in it.
    pub sent: u64,
    /// Arrivals dropped in it because every allowed connection was busy and the queue full.
    pub dropped: u64,
    /// Released arrivals that waited for a connection at its start.
    pub waiting_before: u64,
    /// Released arrivals that waited for a connection at its end.
    pub waiting_after: u64,
}

/// Work that was due and neither answered nor given up: exchanges under way, and released arrivals that waited for a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Backlog {
    /// At the beginning of the second half of the measured time.
    pub middle: u64,
    /// At the end of the last full second.
    pub end: u64,
    /// Seconds between the two.
    pub seconds: f64,
    /// Arrivals that were dropped between the two.
    pub dropped: u64,
}

impl Backlog {
    /// By how many arrivals per second it grew, those that were dropped included; `None` over no time.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of arrivals")]
    pub fn growth_per_s(&self) -> Option<f64> {
        let grown = (self.end + self.dropped) as f64 - self.middle as f64;
        (self.seconds > 0.0).then(|| grown / self.seconds)
    }

    fn plus(self, other: Self) -> Self {
        Self {
            middle: self.middle + other.middle,
            end: self.end + other.end,
            seconds: self.seconds + other.seconds,
            dropped: self.dropped + other.dropped,
        }
    }
}

/// Both ends' counts of one block in which our mock or gateway was the arm's direct target, warm-up included.
///
/// Law: `answered ≤ served ≤ received ≤ sent`; when everything was answered, all four are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetLedger {
    /// The component's name.
    pub component: String,
    /// Exchanges that the generator started.
    pub sent: u64,
    /// Exchanges that it saw answered.
    pub answered: u64,
    /// Requests that it received.
    pub received: u64,
    /// Answers that it wrote in full.
    pub served: u64,
}

impl ArmData {
    /// An arm without any load yet.
    #[must_use]
    pub fn new(name: &str, target: &str, model: LoadModel, offered_per_s: Option<f64>) -> Self {
        Self {
            name: name.to_owned(),
            target: target.to_owned(),
            model,
            offered_per_s,
            plan: PlanFacts::default(),
            fastest_service_s: None,
            seconds: 0.0,
            intended: 0,
            scheduled: 0,
            sent: 0,
            dropped: 0,
            dropped_by_generator: 0,
            connected: 0,
            reconnected: 0,
            late: Completions::default(),
            of_warmup: Completions::default(),
            worst_second: None,
            seconds_observed: 0,
            seconds_short: 0,
            backlog: None,
            in_flight_s: 0.0,
            times: BTreeMap::new(),
            steps: IndexMap::new(),
            groups: IndexMap::new(),
            failures: Failures::default(),
            components: IndexMap::new(),
            unseen: BTreeMap::new(),
            host: HostData::default(),
            own_times: IndexMap::new(),
            ledgers: Vec::new(),
            health: GeneratorHealth::default(),
            faults: Vec::new(),
            undisturbed: None,
        }
    }

    /// Notes how much of one full second's arrivals was released in it. What waits for a connection was released: that is the
    /// target's doing. One arrival less is the second's edge, and seconds without arrivals say nothing. The counters are not touched.
    #[expect(clippy::cast_precision_loss, reason = "counts of one second")]
    pub fn observe_second(&mut self, second: Second) {
        if second.intended == 0 {
            return;
        }
        let released = (second.sent + second.dropped + second.waiting_after)
            .saturating_sub(second.waiting_before);
        let share = if released + 1 >= second.intended {
            1.0
        } else {
            released as f64 / second.intended as f64
        };
        self.worst_second = Some(self.worst_second.map_or(share, |worst| worst.min(share)));
        self.seconds_observed += 1;
        self.seconds_short += u32::from(share < SECOND_RELEASED);
    }

    /// Adds another block of the same arm. Every count and every histogram afterwards is what one longer block would have given.
    pub fn merge(&mut self, other: &Self) {
        self.offered_per_s = match (self.offered_per_s, other.offered_per_s) {
            (Some(own), Some(added)) if self.seconds + other.seconds > 0.0 => {
                Some((own * self.seconds + added * other.seconds) / (self.seconds + other.seconds))
            }
            (own, added) => own.or(added),
        };
        self.health
            .merge(&other.health, (self.seconds, other.seconds));
        self.host.merge(&other.host);
        if self.plan == PlanFacts::default() {
            self.plan = other.plan.clone();
        }
        self.fastest_service_s = match (self.fastest_service_s, other.fastest_service_s) {
            (Some(own), Some(added)) => Some(own.min(added)),
            (own, added) => own.or(added),
        };
        self.seconds += other.seconds;
        self.intended += other.intended;
        self.scheduled += other.scheduled;
        self.sent += other.sent;
        self.dropped += other.dropped;
        self.dropped_by_generator += other.dropped_by_generator;
        self.connected += other.connected;
        self.reconnected += other.reconnected;
        self.late.merge(&other.late);
        self.of_warmup.merge(&other.of_warmup);
        self.worst_second = match (self.worst_second, other.worst_second) {
            (Some(own), Some(added)) => Some(own.min(added)),
            (own, added) => own.or(added),
        };
        self.seconds_observed += other.seconds_observed;
        self.seconds_short += other.seconds_short;
        self.backlog = match (self.backlog, other.backlog) {
            (Some(own), Some(added)) => Some(own.plus(added)),
            (own, added) => own.or(added),
        };
        self.in_flight_s += other.in_flight_s;
        merge_times(&mut self.times, &other.times);
        for (name, step) in &other.steps {
            self.steps.entry(name.clone()).or_default().merge(step);
        }
        for (name, group) in &other.groups {
            self.groups.entry(name.clone()).or_default().merge(group);
        }
        self.failures.merge(&other.failures);
        for (name, component) in &other.components {
            self.components
                .entry(name.clone())
                .or_default()
                .merge(component);
        }
        for (name, times) in &other.own_times {
            self.own_times.entry(name.clone()).or_default().merge(times);
        }
        for (name, reason) in &other.unseen {
            self.unseen.insert(name.clone(), reason.clone());
        }
        self.ledgers.extend(other.ledgers.iter().cloned());
        self.faults.extend(other.faults.iter().cloned());
        match (&mut self.undisturbed, &other.undisturbed) {
            (Some(own), Some(added)) => own.merge(added),
            (own, added) => *own = own.take().or_else(|| added.clone()),
        }
    }

    /// Exchanges that ended within the measured time, whenever they were to start: all that throughput counts.
    #[must_use]
    pub fn within(&self) -> Completions {
        let mut within = Completions::of(&self.steps, &self.groups);
        within.merge(&self.of_warmup);
        within.without(&self.late)
    }

    /// Exchanges that were answered within the measured time, per second of it; `None` over no time.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a rate for people and thresholds"
    )]
    pub fn answered_per_s(&self) -> Option<f64> {
        let answered = self.within().total().answered as f64;
        (self.seconds > 0.0).then(|| answered / self.seconds)
    }

    /// Processor seconds per answered exchange of all components that were looked at, the generator left out; `None` without any of these.
    #[must_use]
    pub fn cpu_s_per_exchange(&self) -> Option<f64> {
        let components = self.components.iter();
        let others = components.filter(|(name, _)| *name != super::GENERATOR);
        let cores = others.filter_map(|(_, component)| component.cpu_cores_mean());
        let cores = cores.reduce(|one, other| one + other)?;
        per_exchange(cores, self.answered_per_s()?)
    }

    /// Arrivals that came by a schedule: beside them there may be users whose iterations are never late for one.
    #[must_use]
    pub fn due(&self) -> u64 {
        match self.model {
            LoadModel::Open => self.intended,
            LoadModel::Closed => self.scheduled,
        }
    }

    /// Whether arrivals, of all scenarios or of one, come by a schedule for which they can be late.
    #[must_use]
    pub fn has_schedule(&self) -> bool {
        self.model == LoadModel::Open || self.scheduled > 0
    }

    /// The arm's histogram of one kind: of all steps together for response and service times, over the classes that enter them. Response
    /// times hold lower bounds of what was given up, arrivals that still waited at the end included.
    #[must_use]
    pub fn histogram(&self, kind: TimeKind) -> TimeHistogram {
        let of_arm = match kind {
            TimeKind::ResponseTime => TimeKind::UnstartedTime,
            other => other,
        };
        let mut merged = self.times.get(&of_arm).cloned().unwrap_or_default();
        for step in self.steps.values() {
            step.add_to(kind, &mut merged);
        }
        merged
    }

    /// Exchanges of all steps that ended in `class`.
    #[must_use]
    pub fn count(&self, class: OutcomeClass) -> u64 {
        self.steps.values().map(|step| step.count(class)).sum()
    }

    /// Exchanges of all steps without an outcome when the measurement ended.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.steps.values().map(|step| step.in_flight).sum()
    }
}

/// Processor seconds per exchange of work that keeps so many cores busy at so many exchanges per second (the utilisation law: Denning and
/// Buzen, ACM Computing Surveys 10(3), 1978).
pub(crate) fn per_exchange(cores: f64, answered_per_s: f64) -> Option<f64> {
    (answered_per_s > 0.0).then(|| cores / answered_per_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One exchange: whether it passed, its response time in µs.
    fn of(exchanges: &[(bool, u64)]) -> ArmData {
        let mut arm = ArmData::new("a", "t", LoadModel::Open, Some(10.0));
        for (passed, micros) in exchanges {
            arm.seconds += 1.0;
            arm.intended += 1;
            arm.sent += 1;
            let class = if *passed {
                OutcomeClass::Passed
            } else {
                OutcomeClass::TimedOut
            };
            let step = arm.steps.entry("s".to_owned()).or_default();
            step.sent += 1;
            step.statuses
                .entry(200)
                .and_modify(|n| *n += 1)
                .or_insert(1);
            let data = step.classes.entry(class).or_default();
            data.count += 1;
            let histogram = data.times.entry(TimeKind::ResponseTime).or_default();
            histogram.record_nanos(micros * 1_000);
        }
        arm
    }

    proptest! {
        #[test]
        fn merging_parts_is_recording_the_whole(
            exchanges in prop::collection::vec((any::<bool>(), 1_u64..1_000_000), 1..40),
            at in 0_usize..40,
        ) {
            let (left, right) = exchanges.split_at(at.min(exchanges.len()));
            let whole = of(&exchanges);
            for (first, second) in [(left, right), (right, left)] {
                let mut merged = of(first);
                merged.merge(&of(second));
                prop_assert_eq!(&merged, &whole);
            }
        }
    }
}
