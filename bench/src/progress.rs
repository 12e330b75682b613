//! How far the benchmark is: a line for each round, with the minutes that are expected to be left.

use crate::clock;
use crate::say;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Before this much was expected to be over, the expectation is taken as it is.
const SETTLED: f64 = 60.0;

/// The comparisons of a run with their expected lengths, and which of them is under way.
pub struct Progress {
    /// Names and expected seconds of the comparisons, in order.
    plan: Vec<(&'static str, f64)>,
    current: Cell<usize>,
    begin: Instant,
}

impl Progress {
    /// Begins now.
    pub fn of(plan: &[(&'static str, Duration)]) -> Self {
        Self {
            plan: plan
                .iter()
                .map(|(name, expected)| (*name, expected.as_secs_f64()))
                .collect(),
            current: Cell::new(0),
            begin: clock::now(),
        }
    }

    /// Says what begins.
    pub fn comparison(&self, index: usize, about: &str) {
        self.current.set(index);
        let name = self.plan[index].0;
        let (number, of) = (index + 1, self.plan.len());
        say(&format!("{name} ({number} of {of}): {about}"));
    }

    /// Says which round begins, from 1.
    pub fn round(&self, round: usize, rounds: usize) {
        let current = self.current.get();
        let seconds = |part: &[(&str, f64)]| part.iter().map(|(_, seconds)| seconds).sum::<f64>();
        let share = ratio(round - 1, rounds);
        let done = seconds(&self.plan[..current]) + self.plan[current].1 * share;
        let all = seconds(&self.plan);
        let elapsed = (clock::now() - self.begin).as_secs_f64();
        let minutes = left(elapsed, done, all - done) / 60.0;
        let name = self.plan[current].0;
        say(&format!(
            "  {name}, round {round} of {rounds}; about {minutes:.0} min left"
        ));
    }
}

/// Seconds that are left: what is expected, at the pace so far.
fn left(elapsed: f64, expected_done: f64, expected_left: f64) -> f64 {
    if expected_done < SETTLED {
        expected_left
    } else {
        expected_left * elapsed / expected_done
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    let number = |count: usize| u32::try_from(count).map_or(f64::MAX, f64::from);
    number(part) / number(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_goes_on_at_the_pace_so_far() {
        let check = |elapsed, done, to_do, expected: f64| {
            assert!((left(elapsed, done, to_do) - expected).abs() < 1e-9);
        };
        check(0.0, 0.0, 600.0, 600.0);
        check(90.0, 30.0, 600.0, 600.0);
        check(150.0, 100.0, 600.0, 900.0);
        check(80.0, 100.0, 600.0, 480.0);
    }
}
