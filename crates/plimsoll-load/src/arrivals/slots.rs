//! One arrival in each slot: stratified sampling of time.
//!
//! Arrival *i* lies at *i + u* of the count, with *u* uniform in [0, 1) and drawn under the key *i*. Nothing that repeats can keep step with
//! it, as it can with even spacing, and no gap is longer than two slots, as one of a Poisson process may be.

use plimsoll_base::random::{Draw, Stream};

/// The slots of a load.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slots {
    pub(super) seed: u64,
}

impl Slots {
    /// Where in its slot arrival `index` lies: a part of the slot.
    pub(super) fn within(self, index: u64) -> f64 {
        Draw::new(self.seed, Stream::Arrivals, index).unit()
    }
}

#[cfg(test)]
mod tests {
    use crate::arrivals::{Arrivals, SchedulePart};
    use crate::plan::{Profile, Spacing, Stretch};
    use std::time::Duration;

    #[test]
    fn every_slot_has_one_arrival_anywhere_in_it() {
        let length = Duration::from_secs(100);
        let stretch = Stretch {
            spacing: Spacing::Slots,
            ..Profile::Constant { rate: 100.0 }.lasting(length)
        };
        let at: Vec<u64> = Arrivals::new(&[stretch], 7, length, SchedulePart::All)
            .map(|arrival| arrival.at)
            .collect();
        assert_eq!(at.len(), 10_000);
        let slot = 10_000_000;
        let mut quarters = [0_u32; 4];
        for (index, at) in (0_u64..).zip(&at) {
            assert_eq!(at / slot, index);
            quarters[usize::try_from(at % slot / (slot / 4)).unwrap()] += 1;
        }
        // 2,500 each, with a deviation of 43.
        assert!(
            quarters.iter().all(|&count| count.abs_diff(2_500) < 220),
            "{quarters:?}"
        );
    }
}
