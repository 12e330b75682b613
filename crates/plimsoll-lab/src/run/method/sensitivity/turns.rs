//! Turns of links during a load, from what proxies counted before, within and after it.

use crate::topology::component::Passed;
use plimsoll_report::record::LinkTurns;

/// Turns of a load and their mean time, from looks before it, when its measured time began, and after it. Lateness is that of the measured
/// time, as response times are; turns are those of the warm-up as well, as `exchanges` are, for some exchanges are under way when it ends.
pub(super) fn between([before, warm, after]: [Passed; 3], exchanges: f64) -> LinkTurns {
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
        late_s: mean_since((warm.held, warm.late_s), (after.held, after.late_s)),
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
    fn turns_of_the_load_and_lateness_of_its_measured_time() {
        let look = |turns, turn_time_s, held, late_s| Passed {
            turns,
            answered: turns,
            turn_time_s: Some(turn_time_s),
            held,
            late_s: Some(late_s),
        };
        let looks = [
            look(10, 0.5, 10, 0.001),
            look(20, 0.3, 20, 0.005),
            look(40, 0.2, 40, 0.004),
        ];
        let turns = between(looks, 30.0);
        assert_eq!((turns.turns, turns.per_exchange), (30, 1.0));
        assert!((turns.turn_time_s.unwrap() - 0.1).abs() < 1e-12);
        assert!((turns.late_s.unwrap() - 0.003).abs() < 1e-12);
        assert_eq!(between([looks[2]; 3], 30.0).late_s, None);
    }
}
