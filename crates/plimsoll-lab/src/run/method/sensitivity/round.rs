//! The loads of a round, in an order of its own: each once, and again behind them what a disturbed machine took.

use plimsoll_base::random::{Draw, Stream};
use std::collections::VecDeque;

/// One load in so many of a round is run again at most, which bounds how long a run takes.
const AGAIN: usize = 4;

/// Loads that are left of a round.
#[derive(Debug)]
pub(super) struct Round<'a, T> {
    left: VecDeque<(&'a T, Run)>,
    /// How many loads may be run again.
    spare: usize,
}

/// Whether a load is run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Run {
    First,
    Again,
}

impl<'a, T> Round<'a, T> {
    /// All of these loads; `number` is the round's and gives their order.
    pub(super) fn new(planned: &'a [T], seed: u64, number: u32) -> Self {
        let mut order: Vec<&T> = planned.iter().collect();
        Draw::new(seed, Stream::Order, u64::from(number)).shuffle(&mut order);
        let spare = order.len().div_ceil(AGAIN);
        Self {
            left: order.into_iter().map(|load| (load, Run::First)).collect(),
            spare,
        }
    }

    /// The next load.
    pub(super) fn next(&mut self) -> Option<(&'a T, Run)> {
        self.left.pop_front()
    }

    /// Runs a load again, after those that are left, if not too many were. Whether it will.
    pub(super) fn repeat(&mut self, load: &'a T) -> bool {
        let is_spared = self.spare > 0;
        if is_spared {
            self.spare -= 1;
            self.left.push_back((load, Run::Again));
        }
        is_spared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_load_comes_once_and_a_quarter_as_many_again_at_most() {
        for loads in [1, 4, 9] {
            let planned: Vec<usize> = (0..loads).collect();
            let mut round = Round::new(&planned, 5, 1);
            let mut seen = Vec::new();
            while let Some((load, run)) = round.next() {
                seen.push((*load, run));
                round.repeat(load);
            }
            let (first, again) = seen.split_at(loads);
            assert!(first.iter().all(|(_, run)| *run == Run::First));
            assert!(again.iter().all(|(_, run)| *run == Run::Again));
            let mut once: Vec<usize> = first.iter().map(|(load, _)| *load).collect();
            once.sort_unstable();
            assert_eq!(once, planned);
            assert_eq!(again.len(), loads.div_ceil(4));
            let of_again = again.iter().map(|(load, _)| load);
            assert!(
                of_again.eq(first.iter().take(again.len()).map(|(load, _)| load)),
                "the one that has waited longest first"
            );
        }
    }

    #[test]
    fn rounds_have_orders_of_their_own() {
        let planned: Vec<usize> = (0..20).collect();
        let order = |number| {
            let mut round = Round::new(&planned, 5, number);
            std::iter::from_fn(move || round.next().map(|(load, _)| *load)).collect::<Vec<_>>()
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }
}
