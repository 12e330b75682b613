//! The conclusion from all trials of one rate: MLRsearch's classification.
//!
//! A rate is a lower bound when it would be one even if every trial second that is still missing were bad, an upper bound when it would
//! be one even if all of them were good, and undecided otherwise (draft-ietf-bmwg-mlrsearch, "Load Classification"). Trial seconds are
//! missing until a rate has had its duration sum. Short trials show the way: their bad seconds count as far as good ones of theirs do not
//! balance them, and their good ones never make a lower bound.

use crate::record::Class;

/// Seconds of trials at one rate.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Seconds {
    /// Of full-length trials that were good.
    pub good: f64,
    /// Of full-length trials that were bad.
    pub bad: f64,
    /// Of shorter trials that were good.
    pub good_short: f64,
    /// Of shorter trials that were bad.
    pub bad_short: f64,
}

/// Seconds of trials that a rate must have before it is decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// Share of trial time that may be bad at a rate that counts as carried: 0 (inclusive) to 1 (exclusive).
    pub exceed_ratio: f64,
    /// Seconds of full-length trials after which a rate is decided in any case.
    pub duration_sum_s: f64,
}

/// The class of the rate.
#[must_use]
pub fn classify(seconds: Seconds, goal: Goal) -> Class {
    let Goal {
        exceed_ratio,
        duration_sum_s,
    } = goal;
    let balancing = seconds.good_short * exceed_ratio / (1.0 - exceed_ratio);
    let bad = seconds.bad + (seconds.bad_short - balancing).max(0.0);
    let whole = (seconds.good + bad).max(duration_sum_s);
    let allowed = whole * exceed_ratio;
    let could_be_lower = bad <= allowed;
    let is_lower = whole - seconds.good <= allowed;
    match (is_lower, could_be_lower) {
        (true, _) => Class::Lower,
        (false, true) => Class::Undecided,
        (false, false) => Class::Upper,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GOAL: Goal = Goal {
        exceed_ratio: 0.5,
        duration_sum_s: 50.0,
    };

    fn check(good: f64, bad: f64, expected: Class) {
        let seconds = Seconds {
            good,
            bad,
            ..Seconds::default()
        };
        assert_eq!(classify(seconds, GOAL), expected, "{good} good, {bad} bad");
    }

    #[test]
    fn most_of_five_decide_and_three_may_be_enough() {
        check(0.0, 0.0, Class::Undecided);
        check(20.0, 0.0, Class::Undecided);
        check(30.0, 0.0, Class::Lower);
        check(20.0, 20.0, Class::Undecided);
        check(30.0, 20.0, Class::Lower);
        check(20.0, 30.0, Class::Upper);
        check(0.0, 30.0, Class::Upper);
        check(0.0, 20.0, Class::Undecided);
        // Beyond the sum the ratio goes on to decide.
        check(30.0, 60.0, Class::Upper);
    }

    #[test]
    fn short_trials_never_make_a_lower_bound() {
        let short = |good_short, bad_short| {
            let seconds = Seconds {
                good_short,
                bad_short,
                ..Seconds::default()
            };
            classify(seconds, GOAL)
        };
        assert_eq!(short(1000.0, 0.0), Class::Undecided);
        assert_eq!(short(10.0, 10.0), Class::Undecided);
        assert_eq!(short(0.0, 30.0), Class::Upper);
    }

    /// The example of the draft's "Goal Exceed Ratio": none may be bad.
    #[test]
    fn with_a_ratio_of_zero_one_bad_trial_is_enough() {
        let goal = Goal {
            exceed_ratio: 0.0,
            duration_sum_s: 20.0,
        };
        let of = |good, bad| {
            let seconds = Seconds {
                good,
                bad,
                ..Seconds::default()
            };
            classify(seconds, goal)
        };
        assert_eq!(of(19.0, 0.0), Class::Undecided);
        assert_eq!(of(20.0, 0.0), Class::Lower);
        assert_eq!(of(19.0, 1.0), Class::Upper);
    }

    proptest! {
        /// A decided rate stays decided whatever the seconds that are missing to its sum turn out to be.
        #[test]
        fn decided_is_decided(parts in prop::array::uniform4(0_u32..20)) {
            let whole = f64::from(parts.iter().sum::<u32>()).max(GOAL.duration_sum_s);
            // No more than the sum: beyond it every second moves what is decided.
            let [good, bad, more_good, more_bad] = parts.map(|part| f64::from(part) * GOAL.duration_sum_s / whole);
            let seconds = |good, bad| Seconds { good, bad, ..Seconds::default() };
            let now = classify(seconds(good, bad), GOAL);
            if now != Class::Undecided {
                prop_assert_eq!(classify(seconds(good + more_good, bad + more_bad), GOAL), now);
            }
        }

        #[test]
        fn after_its_sum_a_rate_is_decided(good in 0_u32..200, bad in 0_u32..200) {
            let missing = (GOAL.duration_sum_s - f64::from(good + bad)).max(0.0);
            let seconds = Seconds { good: f64::from(good) + missing, bad: f64::from(bad), ..Seconds::default() };
            prop_assert_ne!(classify(seconds, GOAL), Class::Undecided);
        }
    }
}
