//! One second of one shard, as it is filled, handed over and filled again.

use super::series::Series;
use crate::clock::Nanos;
use crate::results::exchange::Exchanges;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::reason::Reason;
use plimsoll_base::tally::{CheckCount, GroupTally, InParts};
use plimsoll_base::time_kind::TimeKind;
use std::collections::BTreeMap;

/// A second in nanoseconds.
pub(crate) const SECOND: Nanos = 1_000_000_000;

/// How long the phases of a load last.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Phases {
    /// Where the warm-up ends.
    pub(crate) warmup: Nanos,
    /// Where arrivals end.
    pub(crate) end: Nanos,
}

impl Phases {
    /// Where the piece of a second that begins at `from` ends: with the second, or with a phase before that.
    pub(crate) fn piece_end(self, from: Nanos) -> Nanos {
        let second = (from / SECOND + 1) * SECOND;
        let cuts = [self.warmup, self.end].into_iter();
        cuts.filter(|cut| *cut > from).fold(second, Nanos::min)
    }
}

/// Whether an iteration was intended to start in the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Side {
    /// In it.
    Warmup = 0,
    /// After it.
    Measured = 1,
}

/// One second of one shard, or the piece of it before or after the end of a phase.
#[derive(Debug)]
pub(crate) struct ShardSecond {
    /// Where it begins.
    pub(crate) from: Nanos,
    /// Where it ends.
    pub(crate) to: Nanos,
    /// Open connections at its end.
    pub(crate) connections: u64,
    /// By [`Side`].
    pub(crate) sides: [SideSecond; 2],
    /// Those that ended in it, one by one; empty unless somebody asked for them.
    pub(crate) exchanges: Exchanges,
}

/// Counts of one side in one second; the meaning of each is [`crate::fragment::Fragment`]'s.
#[derive(Debug, Default)]
pub(crate) struct SideSecond {
    pub(crate) intended: u64,
    pub(crate) sent: u64,
    pub(crate) dropped: u64,
    pub(crate) dropped_late: u64,
    pub(crate) behind: u64,
    pub(crate) unstarted: u64,
    pub(crate) in_flight: u64,
    /// Iterations under way, integrated: iteration-nanoseconds.
    pub(crate) in_flight_ns: u64,
    pub(crate) waiting: u64,
    pub(crate) connected: u64,
    pub(crate) reconnected: u64,
    pub(crate) exhausted: u64,
    /// By [`TimeKind`].
    pub(crate) times: [Series; TimeKind::ALL.len()],
    pub(crate) steps: Vec<StepSecond>,
    /// By their place in the program; as many as had a pass.
    pub(crate) groups: Vec<Option<Box<GroupTally>>>,
}

/// Counts of one step in one second.
#[derive(Debug, Default)]
pub(crate) struct StepSecond {
    pub(crate) sent: u64,
    pub(crate) in_flight: u64,
    pub(crate) statuses: BTreeMap<u16, u64>,
    pub(crate) reasons: BTreeMap<Reason, u64>,
    /// Of the status, where that is all that is looked at.
    pub(crate) check: CheckCount,
    /// Of every check, where there are others.
    pub(crate) further: Vec<CheckCount>,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
    /// By [`OutcomeClass`].
    pub(crate) classes: [ClassSecond; OutcomeClass::ALL.len()],
}

/// Counts of one series in one second.
#[derive(Debug, Default)]
pub(crate) struct ClassSecond {
    pub(crate) count: u64,
    pub(crate) response: Series,
    pub(crate) service: Series,
    /// Of the answers that did not come at once.
    pub(crate) in_parts: Option<Box<InParts>>,
}

impl ShardSecond {
    /// The first second, empty; `steps` has for each step of the plan how many checks are counted apart from its status.
    pub(crate) fn new(steps: &[usize]) -> Self {
        let step = |further: &usize| StepSecond {
            further: vec![CheckCount::default(); *further],
            ..StepSecond::default()
        };
        let side = || SideSecond {
            steps: steps.iter().map(step).collect(),
            ..SideSecond::default()
        };
        Self {
            from: 0,
            to: 0,
            connections: 0,
            sides: [side(), side()],
            exchanges: Exchanges::default(),
        }
    }

    /// Forgets everything and keeps the memory of times.
    pub(crate) fn clear(&mut self) {
        self.exchanges.clear();
        for side in &mut self.sides {
            let mut steps = std::mem::take(&mut side.steps);
            let mut times = std::mem::take(&mut side.times);
            times.iter_mut().for_each(Series::clear);
            let mut groups = std::mem::take(&mut side.groups);
            groups.iter_mut().flatten().for_each(|group| group.clear());
            for step in &mut steps {
                let mut further = std::mem::take(&mut step.further);
                further.fill(CheckCount::default());
                let mut classes = std::mem::take(&mut step.classes);
                for class in &mut classes {
                    class.count = 0;
                    class.response.clear();
                    class.service.clear();
                    let in_parts = class.in_parts.iter_mut();
                    in_parts
                        .filter(|parts| !parts.is_empty())
                        .for_each(|parts| parts.clear());
                }
                *step = StepSecond {
                    classes,
                    further,
                    ..StepSecond::default()
                };
            }
            *side = SideSecond {
                groups,
                times,
                steps,
                ..SideSecond::default()
            };
        }
    }
}

impl SideSecond {
    /// Records a time of an iteration.
    pub(crate) fn time(&mut self, kind: TimeKind, time: Nanos) {
        self.times[kind as usize].record_nanos(time);
    }
}

impl StepSecond {
    /// The series of a class.
    pub(crate) fn class(&mut self, class: OutcomeClass) -> &mut ClassSecond {
        &mut self.classes[class as usize]
    }
}

impl ClassSecond {
    /// Counts one exchange and records its times.
    pub(crate) fn record(&mut self, response: Nanos, service: Option<Nanos>) {
        self.count += 1;
        self.response.record_nanos(response);
        if let Some(service) = service {
            self.service.record_nanos(service);
        }
    }

    /// Records the parts of the service time of an answer that did not come at once.
    pub(crate) fn record_parts(&mut self, first_byte: Nanos, service: Nanos) {
        let parts = self.in_parts.get_or_insert_default();
        parts.record_nanos(first_byte, service);
    }
}
