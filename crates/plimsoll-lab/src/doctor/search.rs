//! The search for the highest rate at which something holds: doubling or halving from a first guess, then bisection.
//!
//! A rate that fails is tried once more before it counts, because a machine may stall in one of two tries and the rate have no part in
//! it. Pure: who tries rates, and what holding means, is left to the caller.

/// Bisection ends when the failing rate is at most this much above the holding one.
const PRECISION: f64 = 1.1;
/// The lowest rate that is tried.
const LOWEST: f64 = 100.0;
/// Tries in all, repeated ones included: a bound of the time that a search takes.
pub(super) const TRIES: u32 = 11;

/// A search under way. Rates are per second.
#[derive(Debug, Clone)]
pub(super) struct Search {
    rate: f64,
    /// Whether the current rate has failed once.
    doubted: bool,
    holds: Option<f64>,
    fails: Option<f64>,
    tries: u32,
}

impl Search {
    /// Begins with `guess`.
    pub(super) fn from(guess: f64) -> Self {
        Self {
            rate: round(guess.max(LOWEST)),
            doubted: false,
            holds: None,
            fails: None,
            tries: 0,
        }
    }

    /// The rate to try next; `None` when the search is over.
    pub(super) fn next(&self) -> Option<f64> {
        let narrow = match (self.holds, self.fails) {
            (Some(holds), Some(fails)) => fails <= holds * PRECISION,
            (None, Some(fails)) => fails <= LOWEST,
            _ => false,
        };
        (self.tries < TRIES && !narrow).then_some(self.rate)
    }

    /// Takes into account whether the current rate held.
    pub(super) fn take(&mut self, held: bool) {
        self.tries += 1;
        if !held && !self.doubted {
            self.doubted = true;
            return;
        }
        self.doubted = false;
        if held {
            self.holds = Some(self.rate);
        } else {
            self.fails = Some(self.rate);
        }
        self.rate = match (self.holds, self.fails) {
            (Some(holds), Some(fails)) => round((holds * fails).sqrt()),
            (Some(holds), None) => round(holds * 2.0),
            (None, Some(fails)) => round((fails / 2.0).max(LOWEST)),
            (None, None) => self.rate,
        };
    }

    /// The highest rate that held.
    pub(super) fn holds(&self) -> Option<f64> {
        self.holds
    }

    /// The lowest rate that failed twice.
    pub(super) fn fails(&self) -> Option<f64> {
        self.fails
    }
}

/// To three digits, which is finer than the search and easier to read.
fn round(rate: f64) -> f64 {
    let unit = 10_f64.powf(rate.log10().floor() - 2.0);
    (rate / unit).round() * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches a host that holds up to `ceiling` and stalls in the tries of these numbers. Gives what held, what failed, and tries.
    fn check(guess: f64, ceiling: f64, stalls: &[u32], expected: (Option<f64>, Option<f64>)) {
        let mut search = Search::from(guess);
        while let Some(rate) = search.next() {
            search.take(rate <= ceiling && !stalls.contains(&search.tries));
        }
        let found = (search.holds(), search.fails());
        assert_eq!(found, expected, "from {guess} below {ceiling}, {search:?}");
        if let (Some(holds), Some(fails)) = found {
            assert!(holds <= ceiling || !stalls.is_empty());
            assert!(fails > ceiling || !stalls.is_empty());
        }
        assert!(search.tries <= TRIES);
    }

    #[test]
    fn a_ceiling_is_enclosed() {
        check(10_000.0, 17_000.0, &[], (Some(16_800.0), Some(18_300.0)));
        check(10_000.0, 70_000.0, &[], (Some(67_300.0), Some(73_400.0)));
        check(10_000.0, 4_000.0, &[], (Some(3_860.0), Some(4_210.0)));
    }

    #[test]
    fn a_stall_costs_a_repetition_and_no_more() {
        check(
            10_000.0,
            17_000.0,
            &[0, 3],
            (Some(16_800.0), Some(18_300.0)),
        );
    }

    #[test]
    fn a_host_that_holds_nothing_has_no_ceiling() {
        check(300.0, 0.0, &[], (None, Some(100.0)));
    }

    #[test]
    fn tries_are_bounded() {
        let mut search = Search::from(1000.0);
        while let Some(rate) = search.next() {
            search.take(rate < f64::INFINITY);
        }
        assert_eq!((search.tries, search.fails()), (TRIES, None));
    }

    #[test]
    fn rates_have_three_digits() {
        let check = |rate, expected: f64| assert!((round(rate) - expected).abs() < 1e-6, "{rate}");
        check(23_456.7, 23_500.0);
        check(999.6, 1000.0);
        check(100.0, 100.0);
    }
}
