//! The loads of a round, in an order of its own: each once, and again what a disturbed machine took.

use plimsoll_base::random::{Draw, Stream};

/// One load in so many of a round, rounded up, is run again at most, which bounds how long a run takes.
const AGAIN: usize = 4;

/// Loads that are left of a round.
#[derive(Debug)]
pub(super) struct Round<'a, T> {
    /// The next one last.
    left: Vec<(&'a T, Run)>,
    /// How many loads may be run again.
    spare: usize,
    draw: Draw,
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
        let mut draw = Draw::new(seed, Stream::Order, u64::from(number));
        let mut left: Vec<_> = planned.iter().map(|load| (load, Run::First)).collect();
        draw.shuffle(&mut left);
        Self {
            spare: left.len().div_ceil(AGAIN),
            left,
            draw,
        }
    }

    /// The next load.
    pub(super) fn next(&mut self) -> Option<(&'a T, Run)> {
        self.left.pop()
    }

    /// Runs a load again, somewhere among those that are left, if not too many were. Whether it will. Always behind them, the loads that are
    /// spoiled most often would be the last of their rounds.
    pub(super) fn repeat(&mut self, load: &'a T) -> bool {
        let is_spared = self.spare > 0;
        if is_spared {
            self.spare -= 1;
            let place = self.draw.below(self.left.len() as u64 + 1);
            let place = usize::try_from(place).unwrap_or(0);
            self.left.insert(place, (load, Run::Again));
        }
        is_spared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_load_comes_once_and_one_in_four_again() {
        for (loads, most) in [(1, 1), (4, 1), (9, 3)] {
            let planned: Vec<usize> = (0..loads).collect();
            let mut round = Round::new(&planned, 5, 1);
            let mut seen = Vec::new();
            while let Some((load, run)) = round.next() {
                let before = seen.iter().any(|(known, _)| known == load);
                assert_eq!(before, run == Run::Again, "load {load} in {seen:?}");
                seen.push((*load, run));
                round.repeat(load);
            }
            let mut once = seen.clone();
            once.retain(|(_, run)| *run == Run::First);
            once.sort_unstable_by_key(|(load, _)| *load);
            assert!(once.iter().map(|(load, _)| load).eq(&planned));
            assert_eq!(seen.len(), loads + most);
        }
    }

    #[test]
    fn a_load_comes_again_anywhere_among_those_left() {
        let planned: Vec<usize> = (0..5).collect();
        let places = (0..200).map(|number| {
            let mut round = Round::new(&planned, 5, number);
            let (first, _) = round.next().unwrap();
            assert!(round.repeat(first));
            let left = std::iter::from_fn(|| round.next());
            left.map(|(_, run)| run)
                .position(|run| run == Run::Again)
                .unwrap()
        });
        let mut places: Vec<usize> = places.collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places, [0, 1, 2, 3, 4]);
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
