//! Gains: the loads under which all links are delayed, and why a difference between two of them may not be one.

use super::Rows;
use crate::record::{DelayPurpose, DelayRow, Gain, Statistic};
use crate::statistics::sensitivity::{Estimate, gain, share, slope};
use plimsoll_base::units::format_seconds;

/// Turns and their delays explain so much more of a response time than they come to: counts and timers are not exact.
const EXPLAINED: f64 = 1.05;

const ALL_DELAYED: DelayPurpose = DelayPurpose::Gain(None);

impl Rows<'_> {
    /// Gain of callers without a link, whatever may queue.
    pub(super) fn gain(&self, link: &str) -> Option<Gain> {
        let rounds = self.of(of_gain, link);
        let mean = |rows: &[&DelayRow], of: Option<&str>| {
            let mut rows = rows.iter();
            let row = rows.find(|row| of_gain(&row.purpose) == Some(of))?;
            // A delay that makes exchanges fail takes what they would have lasted out of the mean.
            row.figure(Statistic::Mean).filter(|_| row.failed == 0)
        };
        let pairs: Vec<(f64, f64)> = rounds
            .values()
            .filter_map(|rows| Some((mean(rows, None)?, mean(rows, Some(link))?)))
            .collect();
        let found = gain(&pairs)?;
        Some(Gain {
            value: found.value,
            low: found.low,
            high: found.high,
            share: self
                .baseline()
                .and_then(|baseline| share(&found, baseline))
                .map(|share| share.value),
        })
    }

    /// Whether callers of a link may wait in a queue, for all that was measured.
    pub(super) fn may_queue(&self, link: &str) -> bool {
        self.is_saturated(link).unwrap_or_else(|| {
            // Whoever is not held against half the rate has no slope, and so closely that no queue is in it.
            let per_exchange = self.turns(link).map_or(0.0, |(turns, _)| turns);
            slope(&self.means_by_delay(link))
                .is_none_or(|mean| mean.low > 0.0 || mean.high > per_exchange.max(1.0))
        })
    }

    /// The mean response time without any delay.
    pub(super) fn baseline(&self) -> Option<f64> {
        let means = self.means(&DelayPurpose::Slope(None));
        #[expect(clippy::cast_precision_loss, reason = "a number of loads")]
        (!means.is_empty()).then(|| means.iter().sum::<f64>() / means.len() as f64)
    }

    /// The mean response times of the loads of a purpose.
    fn means(&self, purpose: &DelayPurpose) -> Vec<f64> {
        let rows = self.0.iter().filter(|row| row.purpose == *purpose);
        rows.filter_map(|row| row.figure(Statistic::Mean)).collect()
    }

    /// A sentence where exchanges last longer with all links delayed than calls and delays explain: they queue then, or make other calls, and a
    /// difference between two such loads is no gain.
    pub(super) fn why_no_gain(&self) -> Option<String> {
        let plain = Estimate::of(&self.means(&DelayPurpose::Slope(None)))?;
        let found = Estimate::of(&self.means(&ALL_DELAYED))?;
        let explained = |turns_of: &dyn Fn(&str) -> f64| {
            let row = self.0.iter().find(|row| row.purpose == ALL_DELAYED);
            let delays = row.into_iter().flat_map(|row| &row.delayed);
            let added: f64 = delays.map(|(link, delay)| turns_of(link) * delay).sum();
            (plain.high + added) * EXPLAINED
        };
        let as_alone = explained(&|link| self.waits(link));
        if found.low <= as_alone {
            return None;
        }
        let took = format!(
            "no gain is claimed: with all links delayed exchanges took {}",
            format_seconds(found.value)
        );
        let with_more_turns =
            explained(&|link| self.turns_under_all_delays(link).max(self.waits(link)));
        Some(match found.low <= with_more_turns {
            true => format!("{took}, and had more turns than without delays, as by retries"),
            false => format!(
                "{took}, and their turns explain {} at most: the rest was queueing",
                format_seconds(with_more_turns)
            ),
        })
    }

    /// How many delays of a link an exchange waits for at most: its turns, or its slope where that is larger and no queue is in it. Calls that
    /// overlap on one connection, as with HTTP/2, are fewer turns than calls.
    fn waits(&self, link: &str) -> f64 {
        let turns = self.turns(link).map_or(0.0, |(turns, _)| turns);
        let slope = slope(&self.means_by_delay(link));
        let slope = slope.filter(|_| self.is_saturated(link) == Some(false));
        slope.map_or(turns, |slope| turns.max(slope.high))
    }

    /// Turns per exchange over the loads with all links delayed.
    fn turns_under_all_delays(&self, link: &str) -> f64 {
        let rows = self.0.iter().filter(|row| row.purpose == ALL_DELAYED);
        let turns = rows.filter_map(|row| row.links.get(link));
        turns.map(|turns| turns.per_exchange).fold(0.0, f64::max)
    }
}

fn of_gain(purpose: &DelayPurpose) -> Option<Option<&str>> {
    match purpose {
        DelayPurpose::Gain(link) => Some(link.as_deref()),
        DelayPurpose::Slope(_) | DelayPurpose::HalfRate(_) => None,
    }
}
