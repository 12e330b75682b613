//! Whether somebody still listens where a load goes. A program that runs elsewhere has no end that the lab could see: that it is gone shows
//! in connections, each of which is refused where some were answered before. One that has too much to do does not refuse them so: its
//! connections wait, or are reset.

use plimsoll_base::reason::Reason;
use plimsoll_load::fragment::Fragment;

/// Seconds in a row of which nothing else is heard: a restart may take one or two.
const SECONDS: u32 = 5;

/// Signs of life of a target.
#[derive(Debug, Default)]
pub(super) struct Deserted {
    answered: bool,
    /// Since when every exchange that ended was refused, in seconds since the load began, and for how many seconds.
    refused: Option<(f64, u32)>,
}

impl Deserted {
    /// Takes a fragment into account. Says once, when it is certain, since when nobody has listened, in seconds since the load began.
    pub(super) fn add(&mut self, fragment: &Fragment) -> Option<f64> {
        let count = |of: fn(&plimsoll_base::tally::StepTally) -> u64| -> u64 {
            fragment.steps.iter().map(of).sum()
        };
        let ended = count(|step| step.classes.values().map(|class| class.count).sum());
        if ended == 0 {
            return None;
        }
        self.answered |= count(plimsoll_base::tally::StepTally::answered) > 0;
        let refused = count(|step| {
            let refused = step.reasons.get(&Reason::ConnectionRefused);
            refused.copied().unwrap_or(0)
        });
        if refused < ended || !self.answered {
            self.refused = None;
            return None;
        }
        let (since, seconds) = self.refused.get_or_insert((fragment.start_s, 0));
        *seconds += 1;
        (*seconds == SECONDS).then_some(*since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::outcome_class::OutcomeClass;
    use plimsoll_base::tally::{ClassTally, StepTally};

    /// A second in which so many exchanges were answered, refused and reset.
    fn second(number: u32, counts: [u64; 3]) -> Fragment {
        let classes = [
            OutcomeClass::Passed,
            OutcomeClass::Refused,
            OutcomeClass::Reset,
        ];
        let tally = |count| ClassTally {
            count,
            ..ClassTally::default()
        };
        let step = StepTally {
            classes: classes.into_iter().zip(counts.map(tally)).collect(),
            reasons: [(Reason::ConnectionRefused, counts[1])].into(),
            ..StepTally::default()
        };
        Fragment {
            start_s: f64::from(number),
            steps: vec![step],
            ..Fragment::default()
        }
    }

    fn heard(seconds: &[[u64; 3]]) -> Vec<Option<f64>> {
        let mut target = Deserted::default();
        let numbered = (0..).zip(seconds);
        numbered
            .map(|(number, counts)| target.add(&second(number, *counts)))
            .collect()
    }

    #[test]
    fn one_that_answered_and_then_refuses_all_is_gone() {
        let seconds = [
            [9, 0, 0],
            [5, 4, 0],
            [0, 9, 0],
            [0, 9, 0],
            [0, 0, 0],
            [0, 9, 0],
            [0, 9, 0],
            [0, 9, 0],
            [0, 9, 0],
        ];
        let mut expected = [None; 9];
        expected[7] = Some(2.0);
        assert_eq!(heard(&seconds), expected);
    }

    #[test]
    fn one_that_restarts_resets_or_never_answered_is_not() {
        let restarts = [
            [9, 0, 0],
            [0, 9, 0],
            [0, 9, 0],
            [0, 9, 0],
            [1, 8, 0],
            [0, 9, 0],
            [0, 9, 0],
            [0, 9, 0],
            [0, 9, 0],
        ];
        let resets = [
            [9, 0, 0],
            [0, 8, 1],
            [0, 8, 1],
            [0, 8, 1],
            [0, 8, 1],
            [0, 8, 1],
            [0, 8, 1],
        ];
        let never = [[0, 9, 0]; 8];
        for seconds in [&restarts[..], &resets, &never] {
            assert_eq!(heard(seconds), vec![None; seconds.len()]);
        }
    }
}
