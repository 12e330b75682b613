//! Turns of links during a load, from what proxies counted before and after it.

use crate::topology::component::Passed;
use plimsoll_report::record::LinkTurns;

/// Turns between two looks, and their mean time.
pub(super) fn since(before: Passed, after: Passed, exchanges: f64) -> LinkTurns {
    #[expect(clippy::cast_precision_loss, reason = "sums of times")]
    let sum = |passed: Passed| passed.turn_time_s.unwrap_or(0.0) * passed.answered as f64;
    let (turns, answered) = (
        after.turns.saturating_sub(before.turns),
        after.answered.saturating_sub(before.answered),
    );
    #[expect(clippy::cast_precision_loss, reason = "a number of turns")]
    LinkTurns {
        turns,
        per_exchange: if exchanges > 0.0 {
            turns as f64 / exchanges
        } else {
            0.0
        },
        turn_time_s: (answered > 0).then(|| (sum(after) - sum(before)) / answered as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_counted_between_two_looks() {
        let before = Passed {
            turns: 10,
            answered: 10,
            turn_time_s: Some(0.5),
        };
        let after = Passed {
            turns: 40,
            answered: 40,
            turn_time_s: Some(0.2),
        };
        let turns = since(before, after, 30.0);
        assert_eq!((turns.turns, turns.per_exchange), (30, 1.0));
        assert!((turns.turn_time_s.unwrap() - 0.1).abs() < 1e-12);
    }
}
