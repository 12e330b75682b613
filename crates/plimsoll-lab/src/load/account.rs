//! The accounts of a load: what was intended, sent and ended must add up, and the fragments must add up to the totals.
//!
//! A violation is a defect of this program, never of the target; a run whose accounts do not hold concludes nothing.

use plimsoll_load::fragment::{Accounts, Fragment, PhaseAccounts};
use std::fmt::Write as _;

/// Sums over the fragments of one load.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    warmup: PhaseAccounts,
    measured: PhaseAccounts,
}

impl Ledger {
    /// Adds a fragment.
    pub fn add(&mut self, fragment: &Fragment) {
        let side = if fragment.warmup {
            &mut self.warmup
        } else {
            &mut self.measured
        };
        side.intended += fragment.intended;
        side.sent += fragment.sent;
        side.dropped += fragment.dropped;
        side.unstarted += fragment.unstarted;
        side.exhausted += fragment.exhausted;
        let known = side.steps.len().max(fragment.steps.len());
        side.steps.resize_with(known, Default::default);
        for (sums, step) in side.steps.iter_mut().zip(&fragment.steps) {
            sums.sent += step.sent;
            for (class, data) in &step.classes {
                *sums.classes.entry(*class).or_default() += data.count;
            }
        }
    }

    /// Exchanges that began, over all steps, warm-up included.
    #[must_use]
    pub fn exchanges(&self) -> u64 {
        let sides = [&self.warmup, &self.measured];
        let steps = sides.into_iter().flat_map(|side| &side.steps);
        steps.map(|step| step.sent).sum()
    }

    /// Exchanges that were answered, over all steps, warm-up included.
    #[must_use]
    pub fn answered(&self) -> u64 {
        use plimsoll_base::outcome_class::OutcomeClass::{CheckFailed, Passed};
        let sides = [&self.warmup, &self.measured];
        let steps = sides.into_iter().flat_map(|side| &side.steps);
        let count = |class| {
            move |step: &plimsoll_load::fragment::StepAccounts| {
                step.classes.get(&class).copied().unwrap_or(0)
            }
        };
        steps
            .map(|step| count(Passed)(step) + count(CheckFailed)(step))
            .sum()
    }

    /// Holds the sums against each other and against the totals that the generator says at its end.
    ///
    /// # Errors
    /// Every sum that does not hold, in words.
    pub fn check(&self, totals: &Accounts) -> Result<(), String> {
        let mut violations = String::new();
        for (side, summed, said) in [
            ("warm-up", &self.warmup, &totals.warmup),
            ("measured", &self.measured, &totals.measured),
        ] {
            let mut unequal = |what: &str, left: u64, right: u64| {
                if left != right {
                    write!(violations, "; {side}: {what}: {left} is not {right}")
                        .expect("invariant: writing to a String does not fail");
                }
            };
            unequal(
                "intended = sent + dropped",
                said.intended,
                said.sent + said.dropped,
            );
            unequal("intended of all seconds", summed.intended, said.intended);
            unequal("sent of all seconds", summed.sent, said.sent);
            unequal("dropped of all seconds", summed.dropped, said.dropped);
            for (index, step) in said.steps.iter().enumerate() {
                let ended = step.classes.values().sum();
                unequal(&format!("step {index}: sent = outcomes"), step.sent, ended);
                let of_seconds = summed.steps.get(index);
                let sent = of_seconds.map_or(0, |step| step.sent);
                unequal(
                    &format!("step {index}: sent of all seconds"),
                    sent,
                    step.sent,
                );
                let outcomes = of_seconds.map_or(0, |step| step.classes.values().sum());
                unequal(
                    &format!("step {index}: outcomes of all seconds"),
                    outcomes,
                    ended,
                );
            }
        }
        match violations.strip_prefix("; ") {
            None => Ok(()),
            Some(violations) => Err(format!("the accounts do not hold: {violations}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::outcome_class::OutcomeClass;
    use plimsoll_base::tally::{ClassTally, StepTally};
    use plimsoll_load::fragment::StepAccounts;

    fn fragment(warmup: bool) -> Fragment {
        let class = ClassTally {
            count: 4,
            ..ClassTally::default()
        };
        Fragment {
            warmup,
            intended: 5,
            sent: 4,
            dropped: 1,
            steps: vec![StepTally {
                sent: 4,
                classes: [(OutcomeClass::Passed, class)].into(),
                ..StepTally::default()
            }],
            ..Fragment::default()
        }
    }

    fn phase(times: u64) -> PhaseAccounts {
        PhaseAccounts {
            intended: 5 * times,
            sent: 4 * times,
            dropped: times,
            steps: vec![StepAccounts {
                sent: 4 * times,
                classes: [(OutcomeClass::Passed, 4 * times)].into(),
            }],
            ..PhaseAccounts::default()
        }
    }

    fn ledger() -> Ledger {
        let mut ledger = Ledger::default();
        for warmup in [true, false, false] {
            ledger.add(&fragment(warmup));
        }
        ledger
    }

    #[test]
    fn accounts_that_hold() {
        let totals = Accounts {
            warmup: phase(1),
            measured: phase(2),
            ..Accounts::default()
        };
        assert_eq!(ledger().check(&totals), Ok(()));
        assert_eq!((ledger().exchanges(), ledger().answered()), (12, 12));
    }

    #[test]
    fn every_violation_is_named() {
        let mut totals = Accounts {
            warmup: phase(1),
            measured: phase(2),
            ..Accounts::default()
        };
        totals.measured.dropped = 0;
        totals.warmup.steps[0].classes.clear();
        insta::assert_snapshot!(ledger().check(&totals).unwrap_err(), @"the accounts do not hold: warm-up: step 0: sent = outcomes: 4 is not 0; warm-up: step 0: outcomes of all seconds: 4 is not 0; measured: intended = sent + dropped: 10 is not 8; measured: dropped of all seconds: 2 is not 0");
    }
}
