//! The rates that were tried, with what the trials of each say together, and the bounds that follow.

use super::super::classify::{Seconds, classify};
use super::{EXTENDED, MOST_CONFIRMATIONS, SAME, Settings, Taken};
use crate::record::{Class, TrialOutcome, TrialPurpose};
use std::cmp::Ordering;

/// As often a rate may be void before it is given up.
pub(super) const MOST_VOIDS: u32 = 3;

/// A confirmation counts for at most as much as so many trials.
const CONFIRMATION: f64 = 3.0;

/// One rate with its trials.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) rate: f64,
    pub(super) seconds: Seconds,
    pub(super) trials: u32,
    pub(super) voids: u32,
    /// Confirmations that did not hold, until one did.
    pub(super) unconfirmed: u32,
    /// The seconds of all that did not.
    pub(super) unconfirmed_s: f64,
    pub(super) class: Class,
}

impl Load {
    /// To which side its trials lean, decided or not; `None` without evidence, and where they balance.
    pub(super) fn leans(&self) -> Option<Class> {
        match self.class {
            Class::Undecided => {}
            decided => return Some(decided),
        }
        let good = self.seconds.good + self.seconds.good_short;
        let bad = self.seconds.bad + self.seconds.bad_short;
        match good.total_cmp(&bad) {
            Ordering::Greater => Some(Class::Lower),
            Ordering::Less => Some(Class::Upper),
            Ordering::Equal => None,
        }
    }

    pub(super) fn is_contradictory(&self) -> bool {
        let Seconds {
            good,
            bad,
            good_short,
            bad_short,
        } = self.seconds;
        good + good_short > 0.0 && bad + bad_short > 0.0
    }

    pub(super) fn is_split(&self) -> bool {
        self.leans().is_none() && self.trials > 0
    }

    pub(super) fn is_void(&self) -> bool {
        self.trials == 0 && self.voids >= MOST_VOIDS
    }
}

/// Rates, ascending. The relevant upper bound is the lowest, the relevant lower bound the highest below it: so a rate that fails counts
/// for all above it, whatever these did (draft-ietf-bmwg-mlrsearch, "Relevant Upper Bound").
pub(super) struct Loads {
    pub(super) all: Vec<Load>,
    /// The place of the relevant lower bound.
    pub(super) relevant_lower: Option<usize>,
    /// The place of the relevant upper bound.
    pub(super) relevant_upper: Option<usize>,
}

impl Loads {
    pub(super) fn of(settings: &Settings, taken: &[Taken]) -> Self {
        let mut loads: Vec<Load> = Vec::new();
        for trial in taken {
            if trial.purpose == TrialPurpose::Overload {
                continue;
            }
            let known = loads
                .iter()
                .position(|load| is_same(load.rate, trial.rate_per_s));
            let at = known.unwrap_or_else(|| {
                loads.push(Load {
                    rate: trial.rate_per_s,
                    seconds: Seconds::default(),
                    trials: 0,
                    voids: 0,
                    unconfirmed: 0,
                    unconfirmed_s: 0.0,
                    class: Class::Undecided,
                });
                loads.len() - 1
            });
            loads[at].take(settings, trial);
        }
        for load in &mut loads {
            load.class = if load.unconfirmed >= MOST_CONFIRMATIONS {
                Class::Upper
            } else {
                classify(load.seconds, settings.goal(load))
            };
        }
        loads.sort_by(|a, b| a.rate.total_cmp(&b.rate));
        let relevant_upper = loads.iter().position(|load| load.class == Class::Upper);
        let below = &loads[..relevant_upper.unwrap_or(loads.len())];
        let relevant_lower = below.iter().rposition(|load| load.class == Class::Lower);
        Self {
            all: loads,
            relevant_lower,
            relevant_upper,
        }
    }

    /// The bounds of the answer: those that are decided, or else those that trials lean to.
    pub(super) fn answer(&self) -> (Option<&Load>, Option<&Load>) {
        let decided = |at: Option<usize>| at.map(|at| &self.all[at]);
        (
            decided(self.relevant_lower).or_else(|| self.lower()),
            decided(self.relevant_upper).or_else(|| self.upper()),
        )
    }

    /// Places of rates that are not ruled out by decided ones.
    pub(super) fn open(&self) -> std::ops::Range<usize> {
        let from = self.relevant_lower.map_or(0, |at| at + 1);
        from..self.relevant_upper.unwrap_or(self.all.len())
    }

    /// The lowest rate that is too much, by what is known now.
    pub(super) fn upper(&self) -> Option<&Load> {
        let open = self.all[self.open()].iter();
        let leaning = open.clone().find(|load| load.leans() == Some(Class::Upper));
        leaning.or_else(|| self.relevant_upper.map(|at| &self.all[at]))
    }

    /// The highest rate below that that is carried.
    pub(super) fn lower(&self) -> Option<&Load> {
        let upper = self.upper().map_or(f64::INFINITY, |load| load.rate);
        let mut open = self.all[self.open()].iter().rev();
        let leaning = open.find(|load| load.rate < upper && load.leans() == Some(Class::Lower));
        leaning.or_else(|| self.relevant_lower.map(|at| &self.all[at]))
    }

    /// How many trials of a rate were void.
    pub(super) fn voids(&self, rate: f64) -> u32 {
        let load = self.all.iter().find(|load| is_same(load.rate, rate));
        load.map_or(0, |load| load.voids)
    }

    pub(super) fn lowest_void(&self) -> Option<&Load> {
        self.all.iter().find(|load| load.is_void())
    }

    /// A rate whose trials contradict each other evenly, or those of a lower rate.
    pub(super) fn contradicted(&self) -> Option<&Load> {
        let open = &self.all[self.open()];
        if let Some(split) = open.iter().find(|load| load.is_split()) {
            return Some(split);
        }
        let bad = open
            .iter()
            .position(|load| load.leans() == Some(Class::Upper))?;
        // Of the two it is the higher one that settles the matter: carried, it rules the lower one out.
        open[bad..]
            .iter()
            .find(|load| load.leans() == Some(Class::Lower))
    }
}

impl Load {
    pub(super) fn take(&mut self, settings: &Settings, trial: &Taken) {
        if trial.purpose == TrialPurpose::Confirmation {
            match trial.outcome {
                TrialOutcome::Good => self.unconfirmed = 0,
                TrialOutcome::Bad => {
                    self.unconfirmed += 1;
                    self.unconfirmed_s += trial.seconds;
                    return;
                }
                TrialOutcome::Void | TrialOutcome::Straddling => {}
            }
        }
        // No single trial decides a rate, however long it is.
        let full = settings.trial_s(trial.rate_per_s);
        let most = match trial.purpose {
            TrialPurpose::Confirmation => CONFIRMATION,
            TrialPurpose::Search | TrialPurpose::Overload => EXTENDED,
        };
        let weight = trial.seconds.min(most * full);
        let is_full = trial.seconds >= full * (1.0 - SAME);
        let seconds = match (trial.outcome, is_full) {
            (TrialOutcome::Good, true) => &mut self.seconds.good,
            (TrialOutcome::Good, false) => &mut self.seconds.good_short,
            (TrialOutcome::Bad, true) => &mut self.seconds.bad,
            (TrialOutcome::Bad, false) => &mut self.seconds.bad_short,
            (TrialOutcome::Void, _) => {
                self.voids += 1;
                return;
            }
            (TrialOutcome::Straddling, _) => return,
        };
        *seconds += weight;
        self.trials += 1;
    }
}

pub(super) fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() <= SAME * one.max(other)
}
