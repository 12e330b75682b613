//! Which trial comes next.
//!
//! From the first rate in doublings, down if it fails, until a rate that is carried and one that is not are known; then bisection in log
//! space. On the way one trial shows the direction. Rates near capacity are decided by chance, so the two rates of the answer are not
//! those that bisection ends with but lie a third of the wanted width outside of them, and each of the two must be decided by the whole
//! duration sum. What a single trial claimed is so found out: either an end does not become what it should be, and the search
//! goes on from there, or two rates contradict each other, and the higher one is tried again.
//!
//! At its end the lower bound is held for longer, and then exceeded, to see how the target fails. A confirmation that does not hold is made
//! again; a rate that did not hold twice is an upper bound, whatever shorter trials said of it, and the search narrows below it.

use super::classify::Goal;
use super::judge::Decide;
use crate::record::{Class, LoadClass, SearchEnd, TrialOutcome, TrialPurpose};
use loads::{Load, Loads, MOST_VOIDS, is_same};

/// Every trial beyond this is one too many: a bound for searches without any order in their trials.
const MOST_TRIALS: usize = 200;
/// How far up the next trial is while none failed.
const UP: f64 = 2.0;
/// How far down it is while none was carried.
const DOWN: f64 = 2.0;
/// How far down it is after the first step: a search that begins far too high should be low soon.
const FURTHER_DOWN: f64 = 4.0;
/// How much longer a trial may be made than a full one: where few arrivals would hold too few times, and as evidence.
const EXTENDED: f64 = 2.0;
/// How much longer a trial is that follows a straddling one.
const LONGEST: f64 = 4.0;
/// Above the lower bound, to see how the target fails.
const OVERLOAD: f64 = 1.3;
/// Share by which rounding to four digits may move a rate.
const ROUNDED: f64 = 5.1e-4;
/// As often a lower bound is tried to be confirmed: once may be chance, and one that did not hold twice is none, whatever shorter trials said.
const MOST_CONFIRMATIONS: u32 = 2;
/// Rates are the same when they differ by less than this share: they have four digits.
pub(super) const SAME: f64 = 1e-6;

/// How a search is to be made. Rates are iterations per second, times seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The first rate.
    pub from: f64,
    /// The highest rate that may be offered.
    pub to: Option<f64>,
    /// The lowest rate that is tried.
    pub floor: f64,
    /// The wanted width of the interval, as a share of its lower bound.
    pub precision: f64,
    /// Share of trial time that may be bad at a rate that counts as carried.
    pub exceed_ratio: f64,
    /// Measured time of a trial.
    pub trial_s: f64,
    /// Full-length trials in the duration sum of a rate whose trials agree: it is decided by more than half of them ...
    pub trials_per_load: u32,
    /// ... and of one whose trials contradict each other.
    pub trials_contradicted: u32,
    /// Warm-up of a trial.
    pub warmup_s: f64,
    /// Time of a trial beyond that: starting a generator, waiting for the last answers.
    pub around_s: f64,
    /// Times that a trial must hold, so that the percentiles of the objective have intervals.
    pub samples: f64,
    /// Measured time of the confirmation; 0: there is none.
    pub confirm_s: f64,
    /// Measured time above capacity, and as much again to recover; 0: that is not looked at.
    pub overload_s: f64,
    /// Time of the whole search.
    pub budget_s: f64,
}

/// A trial that was made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Taken {
    /// Its purpose.
    pub purpose: TrialPurpose,
    /// Its rate.
    pub rate_per_s: f64,
    /// Its measured time.
    pub seconds: f64,
    /// Time that it took in all.
    pub spent_s: f64,
    /// Its outcome.
    pub outcome: TrialOutcome,
}

/// A trial that is to be made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Planned {
    /// Its purpose.
    pub purpose: TrialPurpose,
    /// Its rate.
    pub rate_per_s: f64,
    /// Its measured time.
    pub seconds: f64,
    /// Decision where an interval includes its limit.
    pub decide: Decide,
}

/// The next thing to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Next {
    /// This trial.
    Trial(Planned),
    /// Nothing.
    End(SearchEnd),
}

/// The next trial after those that were taken, in order.
#[must_use]
pub fn next(settings: &Settings, taken: &[Taken]) -> Next {
    if taken.len() >= MOST_TRIALS {
        return Next::End(SearchEnd::Trials);
    }
    let loads = Loads::of(settings, taken);
    let spent: f64 = taken.iter().map(|trial| trial.spent_s).sum();
    let sought = match again(settings, taken) {
        Some(planned) => Sought::Try(planned),
        None => match seek(settings, &loads) {
            Sought::Try(planned) => Sought::Try(long_enough(settings, taken, planned)),
            end @ Sought::End(_) => end,
        },
    };
    match sought {
        Sought::Try(planned) if loads.voids(planned.rate_per_s) >= 2 * MOST_VOIDS => {
            let end = Next::End(SearchEnd::Generator);
            after(settings, &loads, taken, spent).unwrap_or(end)
        }
        Sought::Try(planned) => {
            let reserved = match planned.purpose {
                TrialPurpose::Search => settings.reserve_s(),
                TrialPurpose::Confirmation | TrialPurpose::Overload => 0.0,
            };
            if spent + settings.cost_s(planned.seconds) + reserved <= settings.budget_s {
                return Next::Trial(planned);
            }
            let end = Next::End(SearchEnd::Budget);
            after(settings, &loads, taken, spent).unwrap_or(end)
        }
        Sought::End(end @ (SearchEnd::LowestRate | SearchEnd::Budget)) => Next::End(end),
        Sought::End(end) => after(settings, &loads, taken, spent).unwrap_or(Next::End(end)),
    }
}

impl Settings {
    /// Cost of a trial of this measured time.
    #[must_use]
    pub fn cost_s(&self, seconds: f64) -> f64 {
        self.warmup_s + seconds + self.around_s
    }

    /// Time that is kept back for the end of the search.
    #[must_use]
    pub fn reserve_s(&self) -> f64 {
        [self.confirm_s, 2.0 * self.overload_s]
            .into_iter()
            .filter(|seconds| *seconds > 0.0)
            .map(|seconds| self.cost_s(seconds))
            .sum()
    }

    /// The measured time of a full-length trial of this rate: longer where it would hold too few times otherwise.
    #[must_use]
    pub fn trial_s(&self, rate: f64) -> f64 {
        self.trial_s
            .max((self.samples / rate).min(EXTENDED * self.trial_s))
    }

    /// The ratio of the bounds that is aimed at: rounding may add to it what is left of the precision.
    fn wanted(&self) -> f64 {
        1.0 + self.precision - 2.2 * ROUNDED
    }

    fn goal(&self, load: &Load) -> Goal {
        let trials = if load.is_contradictory() {
            self.trials_contradicted
        } else {
            self.trials_per_load
        };
        Goal {
            exceed_ratio: self.exceed_ratio,
            duration_sum_s: self.trial_s(load.rate) * f64::from(trials),
        }
    }

    fn full(&self, rate: f64) -> Sought {
        self.of(rate, self.trial_s(rate))
    }

    /// Half as long, where that holds times enough: it shows the way while it is far.
    fn short(&self, rate: f64) -> Sought {
        let half = self.trial_s / 2.0;
        self.of(rate, half.max(self.samples / rate).min(self.trial_s(rate)))
    }

    fn of(&self, rate: f64, seconds: f64) -> Sought {
        Sought::Try(Planned {
            purpose: TrialPurpose::Search,
            rate_per_s: rate,
            seconds,
            decide: Decide::of(TrialPurpose::Search),
        })
    }
}

/// Trial that the search itself wants.
enum Sought {
    Try(Planned),
    End(SearchEnd),
}

/// A trial that the last one calls for at the same rate: a longer one after a straddling one, the same after a void one, and after a
/// confirmation that did not hold.
fn again(settings: &Settings, taken: &[Taken]) -> Option<Planned> {
    let last = taken
        .last()
        .filter(|last| last.purpose != TrialPurpose::Overload)?;
    let in_a_row = taken
        .iter()
        .rev()
        .take_while(|trial| trial.purpose == last.purpose)
        .take_while(|trial| is_same(trial.rate_per_s, last.rate_per_s))
        .take_while(|trial| trial.outcome == last.outcome)
        .count();
    let is_confirmation = last.purpose == TrialPurpose::Confirmation;
    let is_made_again = match last.outcome {
        TrialOutcome::Straddling => true,
        TrialOutcome::Void => in_a_row < MOST_VOIDS as usize,
        TrialOutcome::Bad => is_confirmation && in_a_row < MOST_CONFIRMATIONS as usize,
        TrialOutcome::Good => false,
    };
    let planned = Planned {
        purpose: last.purpose,
        rate_per_s: last.rate_per_s,
        seconds: last.seconds,
        decide: Decide::of(last.purpose),
    };
    is_made_again.then(|| long_enough(settings, taken, planned))
}

/// A trial at a rate at which one straddled lasts as long as any, so that it says something.
fn long_enough(settings: &Settings, taken: &[Taken], planned: Planned) -> Planned {
    let straddled = taken.iter().any(|trial| {
        trial.outcome == TrialOutcome::Straddling && is_same(trial.rate_per_s, planned.rate_per_s)
    });
    let longest = LONGEST * settings.trial_s(planned.rate_per_s);
    match planned.purpose {
        TrialPurpose::Search if straddled => Planned {
            seconds: planned.seconds.max(longest),
            decide: Decide::Figure,
            ..planned
        },
        _ => planned,
    }
}

fn seek(settings: &Settings, loads: &Loads) -> Sought {
    if let Some(contradicted) = loads.contradicted() {
        return settings.full(contradicted.rate);
    }
    match (loads.lower(), loads.upper()) {
        (None, None) => match loads.lowest_void() {
            None => settings.short(round(settings.from)),
            Some(void) => below(settings, void.rate, 1),
        },
        (None, Some(upper)) => {
            if upper.rate <= settings.floor * (1.0 + SAME) {
                return if upper.class == Class::Upper {
                    Sought::End(SearchEnd::LowestRate)
                } else {
                    settings.full(upper.rate)
                };
            }
            let lowest = loads
                .lowest_void()
                .map_or(upper.rate, |void| void.rate.min(upper.rate));
            below(settings, lowest, loads.all.len())
        }
        (Some(lower), None) => above(settings, loads, lower),
        (Some(lower), Some(upper)) => between(settings, loads, lower, upper),
    }
}

/// No rate was carried yet, and `rate` was not.
fn below(settings: &Settings, rate: f64, tried: usize) -> Sought {
    if rate <= settings.floor * (1.0 + SAME) {
        return Sought::End(SearchEnd::Generator);
    }
    let stride = if tried > 1 { FURTHER_DOWN } else { DOWN };
    settings.short(round(rate / stride).max(settings.floor))
}

/// No rate is known that is too much.
fn above(settings: &Settings, loads: &Loads, lower: &Load) -> Sought {
    let sure = |end| match lower.class {
        Class::Lower => Sought::End(end),
        _ => settings.full(lower.rate),
    };
    let void = loads
        .all
        .iter()
        .find(|load| load.is_void() && load.rate > lower.rate);
    if let Some(void) = void {
        if void.rate <= lower.rate * (1.0 + settings.precision) {
            return sure(SearchEnd::Generator);
        }
        return settings.short(round((lower.rate * void.rate).sqrt()));
    }
    let highest = settings.to.unwrap_or(f64::INFINITY);
    if lower.rate >= highest * (1.0 - SAME) {
        return sure(SearchEnd::HighestRate);
    }
    settings.short(round(lower.rate * UP).min(highest))
}

/// Both sides are known, from one trial at least.
fn between(settings: &Settings, loads: &Loads, lower: &Load, upper: &Load) -> Sought {
    let wanted = settings.wanted();
    let is_decided = lower.class == Class::Lower && upper.class == Class::Upper;
    if is_decided && upper.rate <= lower.rate * (1.0 + settings.precision) {
        return Sought::End(SearchEnd::Precision);
    }
    let void = loads
        .all
        .iter()
        .find(|load| load.is_void() && load.rate > lower.rate && load.rate < upper.rate);
    let top = void.map_or(upper.rate, |void| void.rate);
    if top > lower.rate * wanted.powf(1.0 / 3.0) * (1.0 + SAME) {
        return settings.full(round((lower.rate * top).sqrt()));
    }
    if void.is_some() {
        // What lies above the void rate cannot be narrowed down from here.
        return if lower.class == Class::Lower {
            Sought::End(SearchEnd::Generator)
        } else {
            settings.full(lower.rate)
        };
    }
    ends(settings, loads, lower, upper)
}

/// Bisection is done: the ends of the answer, a little outside.
fn ends(settings: &Settings, loads: &Loads, lower: &Load, upper: &Load) -> Sought {
    let middle = (lower.rate * upper.rate).sqrt();
    let half = settings.wanted().sqrt();
    let (low, high) = (middle / half, middle * half);
    let highest = settings.to.unwrap_or(f64::INFINITY);
    let known_low = loads.relevant_lower.map(|at| loads.all[at].rate);
    if known_low.is_none_or(|known| known < low * (1.0 - ROUNDED)) {
        return settings.full(round(low).max(settings.floor));
    }
    let known_high = loads.relevant_upper.map(|at| loads.all[at].rate);
    if known_high.is_none_or(|known| known > high * (1.0 + ROUNDED)) {
        return settings.full(round(high).min(highest));
    }
    Sought::End(SearchEnd::Precision)
}

/// Steps after the search: the confirmation and the overload, as far as the budget goes. `None`: nothing more.
fn after(settings: &Settings, loads: &Loads, taken: &[Taken], spent: f64) -> Option<Next> {
    let (lower, upper) = loads.answer();
    let lower = lower?;
    let planned = |purpose, rate: f64, seconds| Planned {
        purpose,
        rate_per_s: rate,
        seconds,
        decide: Decide::of(purpose),
    };
    let affordable = |trial: Planned, more: f64| {
        let cost = settings.cost_s(trial.seconds + more);
        (spent + cost <= settings.budget_s).then_some(Next::Trial(trial))
    };
    let at_lower = taken.iter().rev().filter(|trial| {
        trial.purpose == TrialPurpose::Confirmation && is_same(trial.rate_per_s, lower.rate)
    });
    if settings.confirm_s > 0.0 && at_lower.count() == 0 {
        let trial = planned(TrialPurpose::Confirmation, lower.rate, settings.confirm_s);
        if let Some(next) = affordable(trial, 0.0) {
            return Some(next);
        }
    }
    let exceeded = taken.iter().any(|trial| {
        trial.purpose == TrialPurpose::Overload
            && is_same(trial.rate_per_s, overload_rate(settings, lower.rate))
    });
    // Where no rate is too much there is nothing to see above.
    if settings.overload_s <= 0.0 || exceeded || upper.is_none() {
        return None;
    }
    let rate = overload_rate(settings, lower.rate);
    affordable(
        planned(TrialPurpose::Overload, rate, settings.overload_s),
        settings.overload_s,
    )
}

/// The rate at which failing is watched.
#[must_use]
pub fn overload_rate(settings: &Settings, lower: f64) -> f64 {
    round(lower * OVERLOAD).min(settings.to.unwrap_or(f64::INFINITY))
}

/// A rate that bounds the capacity, and whether it is decided.
pub type RateBound = Option<(f64, Class)>;

/// The bounds that all trials say together: the lower and the upper.
#[must_use]
pub fn bounds(settings: &Settings, taken: &[Taken]) -> (RateBound, RateBound) {
    let loads = Loads::of(settings, taken);
    let of = |load: &Load| (load.rate, load.class);
    let (lower, upper) = loads.answer();
    (lower.map(of), upper.map(of))
}

/// Every rate that was tried, ascending, with what follows from its trials.
#[must_use]
pub fn classes(settings: &Settings, taken: &[Taken]) -> Vec<LoadClass> {
    let loads = Loads::of(settings, taken).all;
    let class = |load: Load| LoadClass {
        rate_per_s: load.rate,
        good_s: load.seconds.good + load.seconds.good_short,
        bad_s: load.seconds.bad + load.seconds.bad_short + load.unconfirmed_s,
        voids: load.voids,
        class: load.class,
    };
    loads.into_iter().map(class).collect()
}

/// To four digits: finer than any search, and easier to read.
#[must_use]
pub fn round(rate: f64) -> f64 {
    let unit = 10_f64.powf(rate.log10().floor() - 3.0);
    (rate / unit).round() * unit
}

mod loads;
#[cfg(test)]
pub(super) mod tests;
