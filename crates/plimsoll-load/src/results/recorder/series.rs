//! Times of one series in one second: one by one while they are few, for a plan of many steps would touch as many histograms as it has steps
//! otherwise; as a histogram beyond that.

use crate::clock::Nanos;
use plimsoll_base::histogram::TimeHistogram;

/// So many are kept one by one: 4 KB, where a histogram takes 16 KB for times up to 2 ms and 190 KB for an hour.
const FEW: usize = 1_024;

/// Times of one series in one second.
#[derive(Debug, Default)]
pub(crate) struct Series {
    /// Whole microseconds, in the order in which they came; empty once they are many.
    few: Vec<u32>,
    /// All of them; made when they are many for the first time, and kept.
    many: Option<Box<TimeHistogram>>,
    /// Where they are recorded.
    is_many: bool,
}

impl Series {
    /// Records one time.
    pub(crate) fn record_nanos(&mut self, time: Nanos) {
        match &mut self.many {
            Some(many) if self.is_many => many.record_nanos(time),
            _ => self.record_one_of_few(time),
        }
    }

    fn record_one_of_few(&mut self, time: Nanos) {
        if self.few.len() == FEW {
            let many = self.many.get_or_insert_default();
            add_each(&self.few, many);
            many.record_nanos(time);
            self.few.clear();
            self.is_many = true;
            return;
        }
        // What is longer than an hour and eleven minutes is an hour to the histogram in any case.
        let micros = u32::try_from(time.saturating_add(500) / 1_000).unwrap_or(u32::MAX);
        self.few.push(micros);
    }

    /// Whether nothing was recorded.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.many {
            Some(many) if self.is_many => many.is_empty(),
            _ => self.few.is_empty(),
        }
    }

    /// Adds every time.
    pub(crate) fn add_to(&self, into: &mut TimeHistogram) {
        match &self.many {
            Some(many) if self.is_many => into.merge(many),
            _ => add_each(&self.few, into),
        }
    }

    /// Forgets every time and keeps the memory. After a second in which they were many they will be many again.
    pub(crate) fn clear(&mut self) {
        self.few.clear();
        if let Some(many) = self.many.as_mut().filter(|many| !many.is_empty()) {
            self.is_many = many.count() > FEW as u64;
            many.clear();
        }
    }
}

fn add_each(micros: &[u32], into: &mut TimeHistogram) {
    for micros in micros {
        into.record_nanos(u64::from(*micros) * 1_000);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn held_by(series: &Series) -> TimeHistogram {
        let mut held = TimeHistogram::new();
        series.add_to(&mut held);
        held
    }

    proptest! {
        /// Of seconds with few and with many times, in any order.
        #[test]
        fn each_second_has_its_times(seconds in prop::collection::vec((0usize..3 * FEW, any::<u64>()), 1..5)) {
            let mut series = Series::default();
            for (count, seed) in seconds {
                let mut expected = TimeHistogram::new();
                for number in 0..count as u64 {
                    // From nanoseconds to hours.
                    let bits = seed.rotate_left(u32::try_from(number % 64).unwrap()) ^ number;
                    let time = bits >> (number % 60);
                    series.record_nanos(time);
                    expected.record_nanos(time);
                }
                prop_assert_eq!(series.is_empty(), count == 0);
                prop_assert!(held_by(&series) == expected);
                series.clear();
                prop_assert!(series.is_empty());
            }
        }
    }

    #[test]
    fn few_times_make_no_histogram() {
        let mut series = Series::default();
        (0..FEW as u64).for_each(|time| series.record_nanos(time));
        assert!(series.many.is_none());
        series.record_nanos(0);
        assert!(series.is_many && series.few.is_empty());
        series.clear();
        assert!(series.is_many, "there will be as many again");
        series.record_nanos(0);
        series.clear();
        assert!(!series.is_many, "there were few this time");
    }
}
