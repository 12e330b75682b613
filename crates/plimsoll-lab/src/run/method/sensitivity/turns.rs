//! Turns of links during a load, from what proxies counted before and after it.

use crate::topology::component::Passed;
use plimsoll_report::record::LinkTurns;

/// Turns between two looks, and their mean time.
pub(super) fn since(before: Passed, after: Passed, exchanges: f64) -> LinkTurns {
    let turns = after.turns.saturating_sub(before.turns);
    #[expect(clippy::cast_precision_loss, reason = "a number of turns")]
    LinkTurns {
        turns,
        per_exchange: if exchanges > 0.0 {
            turns as f64 / exchanges
        } else {
            0.0
        },
        turn_time_s: mean_since(
            (before.answered, before.turn_time_s),
            (after.answered, after.turn_time_s),
        ),
        late_s: mean_since((before.held, before.late_s), (after.held, after.late_s)),
    }
}

/// The mean of what came between two looks, each a count and the mean until then; `None` where nothing came.
fn mean_since(before: (u64, Option<f64>), after: (u64, Option<f64>)) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "sums of times")]
    let sum = |(count, mean): (u64, Option<f64>)| mean.unwrap_or(0.0) * count as f64;
    let count = after.0.saturating_sub(before.0);
    #[expect(clippy::cast_precision_loss, reason = "a number of pieces")]
    (count > 0).then(|| (sum(after) - sum(before)) / count as f64)
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
            held: 0,
            late_s: None,
        };
        let after = Passed {
            turns: 40,
            answered: 40,
            turn_time_s: Some(0.2),
            held: 50,
            late_s: Some(0.0003),
        };
        let turns = since(before, after, 30.0);
        assert_eq!((turns.turns, turns.per_exchange), (30, 1.0));
        assert!((turns.turn_time_s.unwrap() - 0.1).abs() < 1e-12);
        assert!((turns.late_s.unwrap() - 0.0003).abs() < 1e-12);
        assert_eq!(since(after, after, 30.0).late_s, None);
    }
}
