//! Which arrivals are the canary's: one in each group of so many, at a place that the seed draws.
//!
//! Every arrival is as likely as any other to be one, so the canary sees what the others see. A fixed place would not do for targets that
//! do something every so often: in step with that, the canary would always or never see it.

use plimsoll_base::random::{Draw, Stream};

/// The picks of one schedule.
#[derive(Debug, Clone)]
pub(super) struct Picks {
    seed: u64,
    /// How many arrivals make a group; two or more.
    one_in: u64,
    /// The group asked for last, and the index of its pick.
    latest: Option<(u64, u64)>,
}

impl Picks {
    /// One arrival in `one_in` is picked.
    ///
    /// # Panics
    /// Unless `one_in` is two or more.
    pub(super) fn new(seed: u64, one_in: u64) -> Self {
        assert!(one_in >= 2, "one in {one_in}");
        Self {
            seed,
            one_in,
            latest: None,
        }
    }

    /// The index of the pick of this group, counted from 0.
    pub(super) fn picked(&mut self, group: u64) -> u64 {
        if let Some((latest, index)) = self.latest
            && latest == group
        {
            return index;
        }
        let place = Draw::new(self.seed, Stream::Canary, group).below(self.one_in);
        let index = group * self.one_in + place;
        self.latest = Some((group, index));
        index
    }

    /// The index of the arrival that is number `ordinal`, from 0, of those that are not picked.
    pub(super) fn other(&mut self, ordinal: u64) -> u64 {
        let others = self.one_in - 1;
        let group = ordinal / others;
        let index = group * self.one_in + ordinal % others;
        index + u64::from(index >= self.picked(group))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_arrival_is_picked_or_another() {
        for one_in in [2, 3, 200] {
            let mut picks = Picks::new(7, one_in);
            let mut all: Vec<u64> = (0..50).map(|group| picks.picked(group)).collect();
            all.extend((0..50 * (one_in - 1)).map(|ordinal| picks.other(ordinal)));
            all.sort_unstable();
            assert_eq!(all, Vec::from_iter(0..50 * one_in), "one in {one_in}");
        }
    }

    /// A hundred picks are expected at each place; five standard deviations of that are 50. So whatever comes once or several times a
    /// group, at whichever moments, is seen as often as it comes.
    #[test]
    fn every_place_of_a_group_is_picked_as_often() {
        for one_in in [2_u64, 5, 200] {
            let mut picks = Picks::new(7, one_in);
            let mut counts = vec![0_u32; usize::try_from(one_in).unwrap()];
            for group in 0..100 * one_in {
                let place = picks.picked(group) - group * one_in;
                counts[usize::try_from(place).unwrap()] += 1;
            }
            let expected = |count: &u32| (50..=150).contains(count);
            assert!(counts.iter().all(expected), "one in {one_in}: {counts:?}");
        }
    }
}
