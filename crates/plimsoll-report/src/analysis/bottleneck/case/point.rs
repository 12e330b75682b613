//! One load of a case: what was asked of the target, what came of it, and what each component used meanwhile.

use crate::analysis::bearing;
use crate::judgement::validity::RELEASED;
use crate::record::{ArmData, Demand, GENERATOR, LoadModel, PlanFacts, ServerStatistics, Strain};
use crate::statistics::share_at_least;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::reason::Reason;
use plimsoll_base::tally::StepTally;
use plimsoll_base::time_kind::TimeKind;

/// A shortfall of a load too short for its backlog to be followed is more than chance from this share on, and beyond so many standard
/// deviations of a count.
const MISSING: f64 = 0.05;

const CHANCE: f64 = 4.0;

/// A thread that is ready for this share of the time waits for nothing but processors.
const PRESSED: f64 = 0.9;

/// A larger share of what was due that was lost is a limit.
const LOST: f64 = 0.01;

/// A thread that does this share of its component's work does all of it: more processors are of no use.
const ALONE: f64 = 0.9;

/// One load.
#[derive(Debug, Clone)]
pub struct Point {
    /// Whether it missed what it was held against; `None` where it was held against nothing.
    missed: Option<bool>,
    /// Where it went.
    pub(in crate::analysis::bottleneck) target: String,
    pub(in crate::analysis::bottleneck) model: LoadModel,
    pub(in crate::analysis::bottleneck) plan: PlanFacts,
    /// Exchanges per second that were to be made; `None` in the closed model.
    pub(in crate::analysis::bottleneck) offered_per_s: Option<f64>,
    /// Exchanges per second that were answered.
    pub(in crate::analysis::bottleneck) achieved_per_s: f64,
    /// Of these, the answers that passed their checks.
    pub(in crate::analysis::bottleneck) good_per_s: f64,
    /// Iterations begun per second.
    pub(in crate::analysis::bottleneck) iterations_per_s: f64,
    /// Unit of its other rates, where that must be said: an iteration is more than one exchange.
    pub(in crate::analysis::bottleneck) unit: &'static str,
    /// Exchanges that were due: those that were begun, and of arrivals that were never started as many as an iteration makes.
    due: f64,
    /// Of these, those that were lost to too much work: unanswered, answered so, or never started although the generator was in time.
    lost: f64,
    /// Exchanges that ended without an answer, for whatever reason.
    unanswered: f64,
    /// Whether the backlog grew by more than chance; `None` where it was not followed.
    backlog_grows: Option<bool>,
    /// Seconds of it.
    seconds: f64,
    /// Of the arrivals, the share that the generator released.
    pub(in crate::analysis::bottleneck) released_share: f64,
    pub(in crate::analysis::bottleneck) failed_share: f64,
    /// Mean seconds from the first byte sent to the last received.
    pub(in crate::analysis::bottleneck) service_s: f64,
    /// The fastest of all, the warm-up's included.
    pub(in crate::analysis::bottleneck) fastest_s: Option<f64>,
    /// Exchanges without a port, and those without a descriptor.
    pub(in crate::analysis::bottleneck) without_port: u64,
    pub(in crate::analysis::bottleneck) without_descriptor: u64,
    /// Exchanges that were begun.
    pub(in crate::analysis::bottleneck) exchanges: u64,
    /// The share of answers that said "too many" (status 429).
    pub(in crate::analysis::bottleneck) limited_share: f64,
    /// Connections that took a second or more to be made: their first segment was sent again.
    pub(in crate::analysis::bottleneck) slow_connects: f64,
    /// Whether the generator's threads spin, so that their processor time says nothing.
    pub(in crate::analysis::bottleneck) spins: bool,
    pub(in crate::analysis::bottleneck) host_busy: Option<f64>,
    pub(in crate::analysis::bottleneck) components: Vec<ComponentSeen>,
    pub(in crate::analysis::bottleneck) unseen: Vec<(String, String)>,
}

/// One component during a load.
#[derive(Debug, Clone)]
pub(in crate::analysis::bottleneck) struct ComponentSeen {
    pub(in crate::analysis::bottleneck) name: String,
    /// Mean cores; `None` where nobody looked.
    pub(in crate::analysis::bottleneck) cores: Option<f64>,
    /// Mean cores of its busiest thread.
    pub(in crate::analysis::bottleneck) thread_cores: Option<f64>,
    /// Mean seconds per second in which its threads were ready and waited.
    pub(in crate::analysis::bottleneck) run_delay: f64,
    pub(in crate::analysis::bottleneck) threads: u64,
    pub(in crate::analysis::bottleneck) strain: Strain,
    pub(in crate::analysis::bottleneck) server: ServerStatistics,
    pub(in crate::analysis::bottleneck) demand: Demand,
    /// Exchanges per second, their mean seconds and their shortest, by its own counters.
    pub(in crate::analysis::bottleneck) own: Option<Own>,
}

/// Times that a component of ours took of itself.
#[derive(Debug, Clone, Copy)]
pub(in crate::analysis::bottleneck) struct Own {
    pub(in crate::analysis::bottleneck) per_s: f64,
    pub(in crate::analysis::bottleneck) mean_s: f64,
    pub(in crate::analysis::bottleneck) shortest_s: f64,
}

impl Point {
    /// The facts of one load.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of a load")]
    pub fn of(data: &ArmData) -> Self {
        let seconds = if data.seconds > 0.0 {
            data.seconds
        } else {
            1.0
        };
        let per_s = |count: u64| count as f64 / seconds;
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        let mean = |kind| data.histogram(kind).mean().unwrap_or(0.0);
        let within = data.within().total();
        let answered = within.answered;
        let begun: u64 = data.steps.values().map(|step| step.sent).sum();
        let per_iteration = begun as f64 / data.sent.max(1) as f64;
        let failed: u64 = data.steps.values().map(StepTally::failed).sum();
        let ended = begun.saturating_sub(data.in_flight());
        let statuses = |wanted: u16| -> u64 {
            let steps = data.steps.values();
            steps.filter_map(|step| step.statuses.get(&wanted)).sum()
        };
        let reasons = |wanted: Reason| -> u64 {
            let steps = data.steps.values();
            steps.filter_map(|step| step.reasons.get(&wanted)).sum()
        };
        let released = data.intended.saturating_sub(data.dropped_by_generator);
        let never_started = data.dropped.saturating_sub(data.dropped_by_generator) as f64;
        let overcome: u64 = data.steps.values().map(overcome).sum();
        Self {
            missed: None,
            target: data.target.clone(),
            model: data.model,
            plan: data.plan.clone(),
            offered_per_s: data.offered_per_s.map(|rate| rate * per_iteration),
            achieved_per_s: per_s(answered),
            good_per_s: per_s(within.good),
            iterations_per_s: per_s(data.sent),
            unit: if per_iteration > *bearing::ONE.end() {
                " exchanges"
            } else {
                ""
            },
            due: begun as f64 + never_started * per_iteration.max(1.0),
            lost: overcome as f64 + never_started * per_iteration.max(1.0),
            backlog_grows: (data.backlog.as_ref().zip(data.offered_per_s))
                .map(|(backlog, offered)| bearing::grows(backlog, offered)),
            unanswered: (failed as f64) - data.count(OutcomeClass::CheckFailed) as f64,
            seconds,
            released_share: share(released, data.scheduled.max(data.intended)),
            failed_share: share(failed, ended),
            service_s: mean(TimeKind::ServiceTime),
            fastest_s: data.fastest_service_s,
            without_port: reasons(Reason::Ports),
            without_descriptor: reasons(Reason::Descriptors),
            exchanges: begun,
            limited_share: share(statuses(429), answered),
            slow_connects: slow_connects(data) / seconds,
            spins: data.health.busiest_thread_cores_max.is_none(),
            host_busy: data.host.strain.cpus_busy_share,
            components: seen(data),
            unseen: (data.unseen.iter())
                .map(|(name, why)| (name.clone(), why.clone()))
                .collect(),
        }
    }

    /// This load, held against an objective or judged otherwise: that decides whether something gave way.
    #[must_use]
    pub fn judged(mut self, missed: bool) -> Self {
        self.missed = Some(missed);
        self
    }

    /// Whether the target could not carry what it was given, or was given as much as it takes. Users of the closed model take all that there
    /// is, unless they think.
    pub(crate) fn gave_way(&self) -> bool {
        if let Some(missed) = self.missed {
            return missed;
        }
        if self.model == LoadModel::Closed {
            return true;
        }
        self.released_share < RELEASED
            || self.is_losing()
            || self.backlog_grows.unwrap_or_else(|| self.is_short())
    }

    /// Whether more of what was due was lost than chance makes of a share that is none.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts of exchanges"
    )]
    fn is_losing(&self) -> bool {
        share_at_least(self.lost as u64, self.due as u64) > LOST
    }

    /// Whether, of a load too short for its backlog to be followed, clearly less was answered than was due, and is not just under way.
    fn is_short(&self) -> bool {
        let under_way = self.achieved_per_s * self.service_s;
        let ended = self.achieved_per_s * self.seconds + self.unanswered;
        let missing = self.due - ended - under_way;
        missing > MISSING * self.due && missing > CHANCE * self.due.sqrt()
    }

    /// Whether the processors of the target, and of everything else, were looked at, and how many of them there are is known.
    pub(in crate::analysis::bottleneck) fn is_all_seen(&self) -> bool {
        let is_seen = |seen: &ComponentSeen| seen.used().is_some();
        let target = self.target.split('/').next().unwrap_or_default();
        let mut names = self.unseen.iter().map(|(name, _)| name.as_str());
        names.all(|name| self.component(name).is_some_and(is_seen))
            && self.component(target).is_some_and(is_seen)
            && self.others().all(is_seen)
    }

    /// The share of the exchanges that a count of them is.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub(in crate::analysis::bottleneck) fn share_of_exchanges(&self, count: u64) -> f64 {
        count as f64 / self.exchanges.max(1) as f64
    }

    pub(in crate::analysis::bottleneck) fn component(&self, name: &str) -> Option<&ComponentSeen> {
        self.components.iter().find(|seen| seen.name == name)
    }

    pub(in crate::analysis::bottleneck) fn generator(&self) -> Option<&ComponentSeen> {
        self.component(GENERATOR)
    }

    /// Components without the generator.
    pub(in crate::analysis::bottleneck) fn others(&self) -> impl Iterator<Item = &ComponentSeen> {
        self.components.iter().filter(|seen| seen.name != GENERATOR)
    }

    /// Components that time themselves and that the load does not go to: they are further inside.
    pub(in crate::analysis::bottleneck) fn inner(
        &self,
    ) -> impl Iterator<Item = (&ComponentSeen, Own)> {
        let target = self.target.split('/').next().unwrap_or_default();
        self.others()
            .filter(move |seen| seen.name != target)
            .filter_map(|seen| Some((seen, seen.own?)))
            .filter(|(_, own)| own.per_s > 0.0)
    }

    /// Exchanges under way at once, on the mean: Little's law.
    pub(in crate::analysis::bottleneck) fn in_flight(&self) -> f64 {
        self.achieved_per_s * self.service_s
    }
}

/// Exchanges of a step that failed without an answer, or with a status that speaks of too much work. Others, such as a 404 or a certificate
/// that nobody trusts, fail under a light load too.
fn overcome(step: &StepTally) -> u64 {
    let answered = step.count(OutcomeClass::CheckFailed);
    let always = step.count(OutcomeClass::TlsFailed)
        + step.count(OutcomeClass::Malformed)
        + step.reasons.get(&Reason::Lookup).copied().unwrap_or(0);
    let statuses = step.statuses.iter();
    let of_load = statuses.filter(|(status, _)| **status >= 500 || matches!(status, 408 | 429));
    let of_load: u64 = of_load.map(|(_, count)| count).sum();
    step.failed() - answered - always + of_load.min(answered)
}

/// Connections that took a second or longer to be made.
#[expect(clippy::cast_precision_loss, reason = "a count")]
fn slow_connects(data: &ArmData) -> f64 {
    let connects = data.histogram(TimeKind::TcpTime);
    (connects.count() - connects.count_at_most(0.95)) as f64
}

fn seen(data: &ArmData) -> Vec<ComponentSeen> {
    let mut names: Vec<&String> = data.components.keys().collect();
    names.extend(
        data.own_times
            .keys()
            .filter(|name| !data.components.contains_key(*name)),
    );
    names
        .into_iter()
        .map(|name| of_component(data, name))
        .collect()
}

fn of_component(data: &ArmData, name: &str) -> ComponentSeen {
    let component = data.components.get(name).copied().unwrap_or_default();
    let sampled = component.seconds > 0.0;
    let own = data.own_times.get(name).and_then(|own| {
        Some(Own {
            per_s: own.per_s()?,
            mean_s: own.times.mean()?,
            shortest_s: own.times.min()?,
        })
    });
    ComponentSeen {
        name: name.to_owned(),
        cores: component.cpu_cores_mean(),
        thread_cores: component.busiest_thread_cores_mean(),
        run_delay: if sampled {
            component.run_delay_seconds / component.seconds
        } else {
            0.0
        },
        threads: component.threads_max.unwrap_or(0),
        strain: component.strain,
        server: component.server,
        demand: component.demand,
        own,
    }
}

impl ComponentSeen {
    /// Cores that it may use at most.
    pub(in crate::analysis::bottleneck) fn limit(&self) -> Option<f64> {
        self.strain.cpu_limit_cores
    }

    /// Cores that it can use: those that it may, or as many as its busiest thread leaves work for. `None` where one thread does most of the
    /// work and not all: under more load the others may join in, or not.
    pub(in crate::analysis::bottleneck) fn usable(&self) -> Option<f64> {
        let (limit, cores) = (self.limit()?, self.cores?);
        let Some(thread) = self.thread_cores.filter(|thread| *thread > 0.0) else {
            return Some(limit);
        };
        let threads = cores / thread;
        let alone = self.threads == 1 || thread >= ALONE * cores;
        match alone {
            true => Some(limit.min(threads.max(1.0))),
            false => (threads >= ALONE * limit).then_some(limit),
        }
    }

    /// The share of them that it used.
    pub(in crate::analysis::bottleneck) fn used(&self) -> Option<f64> {
        Some(self.cores? / self.limit()?)
    }

    /// Whether one of its threads hardly ever rests: it works, or waits for a processor.
    pub(in crate::analysis::bottleneck) fn is_pressed(&self) -> bool {
        let threads = [
            self.strain.busiest_thread_ready,
            self.server.main_thread_cores,
        ];
        threads.into_iter().flatten().any(|share| share >= PRESSED)
    }

    /// Whether most of its processor time is left.
    pub(in crate::analysis::bottleneck) fn is_idle(&self) -> bool {
        self.used()
            .is_some_and(|used| used < crate::analysis::diagnosis::IDLE)
    }
}
