//! The search for the highest rate at which something holds: in large strides until it is enclosed, then bisection.
//!
//! A machine may stall in a try, or be lucky in it, and the rate have no part in that. So a single try only shows the way; of the two
//! rates of the answer the one that holds must have held twice and the one that fails failed three times, each in most of its tries.
//! Three, because stalls are commoner than luck. Pure: who tries rates, and what holding means, is left to the caller.

use std::cmp::Ordering;

/// Bisection ends when the failing rate is at most this much above the holding one.
const PRECISION: f64 = 1.1;
/// The lowest rate that is tried.
const LOWEST: f64 = 100.0;
/// How far down the next try is while none held.
const DOWN: f64 = 4.0;
/// How far up the next try is while none failed.
const UP: f64 = 2.0;
/// As often a rate must have held before it is an end of the answer.
const HELD: u32 = 2;
/// As often a rate must have failed before it is one.
const FAILED: u32 = 3;
/// Tries until the answer is enclosed: more than four powers of [`DOWN`].
const STRIDES: usize = 8;
/// Tries from then on. Bisection takes four and making sure three; the others make up for a try that misled.
const NARROWING: usize = 14;
/// Tries in all: a bound of the time that a search takes.
pub(super) const TRIES: usize = STRIDES + NARROWING;

/// A search under way. Rates are per second.
#[derive(Debug, Clone)]
pub(super) struct Search {
    guess: f64,
    /// In the order of their first try.
    rates: Vec<Rate>,
    tries: usize,
    /// Tries after which a rate that holds and one that fails were known for the first time.
    enclosed_after: Option<usize>,
}

/// How the tries of one rate ended.
#[derive(Debug, Clone, Copy)]
struct Rate {
    per_s: f64,
    held: u32,
    failed: u32,
}

impl Search {
    /// Begins with `guess`.
    pub(super) fn from(guess: f64) -> Self {
        Self {
            guess: round(guess.max(LOWEST)),
            rates: Vec::new(),
            tries: 0,
            enclosed_after: None,
        }
    }

    /// The rate to try next; `None` when the search is over.
    pub(super) fn next(&self) -> Option<f64> {
        // An end that later tries took back is looked for anew.
        let striding = self.enclosed_after.is_some() || self.tries < STRIDES;
        let limit = match self.enclosed_after {
            // An end that was found late leaves less for what follows.
            Some(tries) => (tries + NARROWING).min(TRIES),
            // What holds is made sure of even if nothing was found that fails.
            None if self.highest_held().is_some() => TRIES,
            None => STRIDES,
        };
        if self.tries >= limit {
            return None;
        }
        if let Some(split) = self.rates.iter().find(|rate| rate.is_split()) {
            return Some(split.per_s);
        }
        match (self.highest_held(), self.lowest_failed()) {
            (None, None) => Some(self.guess),
            (None, Some(fails)) if fails.per_s <= LOWEST => fails.unless_sure(),
            (None, Some(fails)) => Some(round((fails.per_s / DOWN).max(LOWEST))),
            (Some(holds), None) if striding => Some(round(holds.per_s * UP)),
            (Some(holds), None) => holds.unless_sure(),
            (Some(holds), Some(fails)) if is_narrow(holds, fails) => {
                holds.unless_sure().or_else(|| fails.unless_sure())
            }
            (Some(holds), Some(fails)) => Some(round((holds.per_s * fails.per_s).sqrt())),
        }
    }

    /// Takes into account whether `rate`, the next one, held.
    pub(super) fn take(&mut self, rate: f64, held: bool) {
        self.tries += 1;
        let known = self.rates.iter().position(|known| is_same(known, rate));
        let at = known.unwrap_or_else(|| {
            self.rates.push(Rate {
                per_s: rate,
                held: 0,
                failed: 0,
            });
            self.rates.len() - 1
        });
        let tried = &mut self.rates[at];
        tried.held += u32::from(held);
        tried.failed += u32::from(!held);
        let is_enclosed = self.highest_held().is_some() && self.lowest_failed().is_some();
        if is_enclosed && self.enclosed_after.is_none() {
            self.enclosed_after = Some(self.tries);
        }
    }

    /// The highest rate that held more often than it failed.
    pub(super) fn holds(&self) -> Option<f64> {
        self.highest_held().map(|rate| rate.per_s)
    }

    /// The lowest rate that failed more often than it held.
    pub(super) fn fails(&self) -> Option<f64> {
        self.lowest_failed().map(|rate| rate.per_s)
    }

    /// The lowest and the highest rate that were tried.
    pub(super) fn range(&self) -> Option<(f64, f64)> {
        let rates = || self.rates.iter().map(|rate| rate.per_s);
        Some((rates().reduce(f64::min)?, rates().reduce(f64::max)?))
    }

    /// Why the answer is worth less than a whole one; `None` when it is whole.
    pub(super) fn doubt(&self) -> Option<&'static str> {
        let holds = self.highest_held()?;
        match self.lowest_failed() {
            _ if !holds.is_sure() => Some("it held in one try only"),
            None => Some("no rate was found that fails"),
            Some(fails) if !is_narrow(holds, fails) => {
                Some("the rate above it that fails is more than a tenth higher")
            }
            Some(fails) if !fails.is_sure() => Some("the rate above it failed in too few tries"),
            Some(_) => None,
        }
    }

    fn highest_held(&self) -> Option<&Rate> {
        let held = self.rates.iter().filter(|rate| rate.held > rate.failed);
        held.max_by(|one, other| one.per_s.total_cmp(&other.per_s))
    }

    fn lowest_failed(&self) -> Option<&Rate> {
        let failed = self.rates.iter().filter(|rate| rate.failed > rate.held);
        failed.min_by(|one, other| one.per_s.total_cmp(&other.per_s))
    }
}

impl Rate {
    /// Whether its tries contradict each other evenly.
    fn is_split(&self) -> bool {
        self.held == self.failed
    }

    /// Whether enough of its tries agree.
    fn is_sure(&self) -> bool {
        match self.held.cmp(&self.failed) {
            Ordering::Greater => self.held >= HELD,
            Ordering::Less => self.failed >= FAILED,
            Ordering::Equal => false,
        }
    }

    /// Itself, to be tried once more, unless it is sure.
    fn unless_sure(&self) -> Option<f64> {
        (!self.is_sure()).then_some(self.per_s)
    }
}

fn is_narrow(holds: &Rate, fails: &Rate) -> bool {
    fails.per_s <= holds.per_s * PRECISION
}

/// Whether a rate is the one that was tried: rates have three digits.
fn is_same(known: &Rate, rate: f64) -> bool {
    (known.per_s - rate).abs() < known.per_s * 1e-6
}

/// To three digits, which is finer than the search and easier to read.
fn round(rate: f64) -> f64 {
    let unit = 10_f64.powf(rate.log10().floor() - 2.0);
    (rate / unit).round() * unit
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Searches a host that holds up to `ceiling`; in the tries of these numbers, from 0, the opposite is seen. Gives the search at
    /// its end and the rates that it tried.
    fn search(guess: f64, ceiling: f64, wrong: &[usize]) -> (Search, Vec<f64>) {
        let mut search = Search::from(guess);
        let mut tried = Vec::new();
        while let Some(rate) = search.next() {
            search.take(rate, (rate <= ceiling) != wrong.contains(&tried.len()));
            tried.push(rate);
        }
        (search, tried)
    }

    #[test]
    fn a_ceiling_is_enclosed_from_far_above() {
        let check = |ceiling, tries| {
            let (search, tried) = search(102_000.0, ceiling, &[]);
            let (holds, fails) = (search.holds().unwrap(), search.fails().unwrap());
            assert!(holds <= ceiling && ceiling < fails, "{search:?}");
            assert!(fails / holds <= PRECISION, "{search:?}");
            assert_eq!((tried.len(), search.doubt()), (tries, None), "{tried:?}");
        };
        check(300.0, 13);
        check(3_000.0, 11);
        check(12_000.0, 10);
        check(27_800.0, 9);
        check(90_000.0, 9);
    }

    #[test]
    fn a_ceiling_is_enclosed_from_below() {
        let (search, tried) = search(10_000.0, 70_000.0, &[]);
        assert_eq!(tried.len(), 10, "{tried:?}");
        assert_eq!(
            (search.holds(), search.fails(), search.doubt()),
            (Some(67_300.0), Some(73_400.0), None)
        );
    }

    /// The example of docs/doctor.md.
    #[test]
    fn the_way_there() {
        let (_, tried) = search(102_000.0, 27_800.0, &[]);
        let tried: Vec<String> = tried.iter().map(f64::to_string).collect();
        let expected = "102000 25500 51000 36100 30300 27800 27800 30300 30300";
        assert_eq!(tried.join(" "), expected);
    }

    #[test]
    fn one_try_that_stalled_or_was_lucky_changes_nothing() {
        let (_, tries) = search(102_000.0, 27_800.0, &[]);
        for number in 0..tries.len() {
            let (search, tried) = search(102_000.0, 27_800.0, &[number]);
            let (holds, fails) = (search.holds().unwrap(), search.fails().unwrap());
            assert!(holds <= 27_800.0 && 27_800.0 < fails, "{number}: {tried:?}");
            assert!(fails / holds <= PRECISION, "{number}: {tried:?}");
            assert_eq!(search.doubt(), None, "{number}: {tried:?}");
        }
    }

    #[test]
    fn a_host_that_holds_nothing_has_no_ceiling() {
        let (search, tried) = search(102_000.0, 0.0, &[]);
        assert_eq!((search.holds(), search.doubt()), (None, None));
        assert_eq!(search.range(), Some((100.0, 102_000.0)));
        // Far above once each; the lowest three times.
        assert_eq!(tried.len(), 8, "{tried:?}");
    }

    #[test]
    fn where_nothing_fails_it_ends_with_a_doubt() {
        let (search, tried) = search(1000.0, f64::INFINITY, &[]);
        assert_eq!(tried.len(), STRIDES + 1, "{tried:?}");
        assert_eq!(search.doubt(), Some("no rate was found that fails"));
    }

    #[test]
    fn an_end_that_proves_wrong_is_looked_for_again() {
        let (search, tried) = search(100.0, 350.0, &[1]);
        let ends = (search.holds().unwrap(), search.fails().unwrap());
        assert!(ends.0 <= 350.0 && 350.0 < ends.1, "{tried:?}");
        assert_eq!(search.doubt(), None, "{tried:?}");
    }

    #[test]
    fn an_end_that_is_found_late_prolongs_nothing() {
        let mut search = Search::from(1.0);
        let mut tried = 0;
        while let Some(rate) = search.next() {
            search.take(rate, (2..8).contains(&tried));
            tried += 1;
        }
        assert_eq!(tried, TRIES);
        assert!(search.doubt().is_some());
    }

    proptest! {
        #[test]
        fn whatever_happens_it_ends_and_says_what_the_answer_is_worth(
            guess in 1.0_f64..1e6,
            ends in prop::collection::vec(any::<bool>(), TRIES),
        ) {
            let mut search = Search::from(guess);
            let mut tried = 0;
            while let Some(rate) = search.next() {
                prop_assert!(tried < TRIES);
                search.take(rate, ends[tried]);
                tried += 1;
            }
            let Some(holds) = search.holds() else { return Ok(()) };
            if let Some(fails) = search.fails() {
                prop_assert!(holds < fails);
            }
            if search.doubt().is_none() {
                prop_assert!(search.fails().unwrap() / holds <= PRECISION);
                prop_assert!(search.highest_held().unwrap().is_sure());
                prop_assert!(search.lowest_failed().unwrap().is_sure());
            } else {
                prop_assert!(tried > STRIDES);
            }
        }
    }

    #[test]
    fn rates_have_three_digits() {
        let check = |rate, expected: f64| assert!((round(rate) - expected).abs() < 1e-6, "{rate}");
        check(23_456.7, 23_500.0);
        check(999.6, 1000.0);
        check(100.0, 100.0);
    }
}
