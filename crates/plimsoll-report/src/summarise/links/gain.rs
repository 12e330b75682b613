//! Gains: the loads under which all links are delayed, and why a difference between two of them may not be one.

use super::{Rows, of_slope};
use crate::record::{DelayPurpose, DelayRow, Gain, Statistic};
use crate::statistics::sensitivity::{Estimate, gain, share, slope};
use plimsoll_base::units::format_seconds;

/// Calls and their delays explain so much more of a response time than they come to: counts and timers are not exact.
const EXPLAINED: f64 = 1.05;

const ALL_DELAYED: DelayPurpose = DelayPurpose::Gain(None);

impl Rows<'_> {
    /// Mean response times with all links delayed, and with all but one, of the rounds that have both.
    pub(super) fn gain_pairs(&self, link: &str) -> Vec<(f64, f64)> {
        let rounds = self.of(of_gain, link);
        let mean = |rows: &[&DelayRow], of: Option<&str>| {
            let mut rows = rows.iter().filter(|row| of_gain(&row.purpose) == Some(of));
            rows.find_map(|row| row.mean_of_answers())
        };
        let both = |rows: &Vec<&DelayRow>| Some((mean(rows, None)?, mean(rows, Some(link))?));
        rounds.values().filter_map(both).collect()
    }

    /// Gain of callers without a link, whatever may queue.
    pub(super) fn gain(&self, link: &str) -> Option<Gain> {
        let found = gain(&self.gain_pairs(link))?;
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

    /// Why the gain of a link is not known, where callers may have one. `doubt`: why that of none is.
    pub(super) fn why_no_gain(
        &self,
        link: &str,
        is_measured: bool,
        doubt: Option<&str>,
    ) -> Option<String> {
        let is_saturated = self.is_saturated(link);
        if !self.may_be_waited_for(link) && is_saturated != Some(true) {
            return None;
        }
        let is_answered = self.turns(link).is_some_and(|(_, time)| time.is_some());
        let why = match (is_saturated, doubt) {
            (Some(true), _) => "its slope includes queueing",
            (_, Some(doubt)) => doubt,
            _ if !is_answered => "no turn on it was answered",
            (None, None) => {
                "no valid load at half the rate says whether its slope is that of a queue"
            }
            (Some(false), None) if is_measured => return None,
            (Some(false), None) => "too few valid loads had all links delayed",
        };
        Some(why.to_owned())
    }

    /// The mean response time without any delay.
    pub(super) fn baseline(&self) -> Option<f64> {
        let means = self.means(&DelayPurpose::Slope(None));
        #[expect(clippy::cast_precision_loss, reason = "a number of loads")]
        (!means.is_empty()).then(|| means.iter().sum::<f64>() / means.len() as f64)
    }

    /// The mean response times of the loads of a purpose in which nothing failed.
    fn means(&self, purpose: &DelayPurpose) -> Vec<f64> {
        let rows = self.0.iter().filter(|row| row.purpose == *purpose);
        rows.filter_map(DelayRow::mean_of_answers).collect()
    }

    /// Why a difference between two loads with all links delayed is no gain: exchanges last longer in them than calls and delays explain, or
    /// not as long as one delay alone makes them.
    pub(super) fn doubt(&self) -> Option<String> {
        let plain = Estimate::of(&self.means(&DelayPurpose::Slope(None)))?;
        let found = Estimate::of(&self.means(&ALL_DELAYED))?;
        let delayed = &self
            .0
            .iter()
            .find(|row| row.purpose == ALL_DELAYED)?
            .delayed;
        let took = format!(
            "with all links delayed exchanges took {}",
            format_seconds(found.value)
        );
        let cut_short = delayed.iter().find(|(link, delay)| {
            let alone = plain.low + self.least_wait(link, **delay);
            found.high * EXPLAINED < alone
        });
        if let Some((link, _)) = cut_short {
            return Some(format!(
                "{took}, which is less than the delay of {link} alone adds: it was cut short, as by a timeout"
            ));
        }
        let explained = |waits_of: &dyn Fn(&str) -> f64| {
            let added = delayed
                .keys()
                .map(|link| waits_of(link) * self.mean_delay_of_all(link));
            (plain.high + added.sum::<f64>()) * EXPLAINED
        };
        if found.low <= explained(&|link| self.waits(link)) {
            return None;
        }
        let with_more_turns =
            explained(&|link| self.turns_under_all_delays(link).max(self.waits(link)));
        Some(match found.low <= with_more_turns {
            true => format!("{took}, and had more turns than without delays, as by retries"),
            false => format!(
                "{took}, and calls and delays explain {} at most: the rest was queueing",
                format_seconds(with_more_turns)
            ),
        })
    }

    /// How many delays of a link an exchange waits for: its turns, or its slope where that is larger and the same at half the rate. Calls that
    /// overlap on one connection, as with HTTP/2, are fewer turns than calls.
    fn waits(&self, link: &str) -> f64 {
        let turns = self.turns(link).map_or(0.0, |(turns, _)| turns);
        let full = slope(&self.means_by_delay(of_slope, link, None));
        let slopes = full.zip(self.half_slope(link));
        let slopes = slopes.filter(|_| self.is_saturated(link) == Some(false));
        slopes.map_or(turns, |(full, half)| turns.max(full.value.min(half.value)))
    }

    /// The time by which a delay of a link alone makes exchanges longer at least; 0 for one that is shorter than the longest of which that is
    /// known, for the first milliseconds may cost nothing.
    fn least_wait(&self, link: &str, delay_s: f64) -> f64 {
        let planned = self.means_by_planned_delay(link);
        let levels = planned.iter().flatten();
        let longest = levels.map(|level| level.delay_s).fold(0.0, f64::max);
        let known =
            slope(&self.means_by_delay(of_slope, link, None)).filter(|_| delay_s >= longest);
        known.map_or(0.0, |slope| slope.low.max(0.0) * delay_s)
    }

    /// Mean turns per exchange under all delays.
    fn turns_under_all_delays(&self, link: &str) -> f64 {
        self.under_all_delays(|row| Some(row.links.get(link)?.per_exchange))
    }

    /// Mean delay of a link, as it was, where all are delayed.
    fn mean_delay_of_all(&self, link: &str) -> f64 {
        self.under_all_delays(|row| Some(row.mean_delay(link)))
    }

    /// The mean of a figure over the loads with all links delayed in which nothing failed.
    fn under_all_delays(&self, figure: impl Fn(&DelayRow) -> Option<f64>) -> f64 {
        let rows = self.0.iter().filter(|row| row.purpose == ALL_DELAYED);
        let good = rows.filter(|row| row.mean_of_answers().is_some());
        let figures: Vec<f64> = good.filter_map(figure).collect();
        #[expect(clippy::cast_precision_loss, reason = "a number of loads")]
        let count = figures.len().max(1) as f64;
        figures.iter().sum::<f64>() / count
    }
}

impl DelayRow {
    /// The mean response time where nothing failed: a delay that makes exchanges fail takes what they would have lasted out of it.
    fn mean_of_answers(&self) -> Option<f64> {
        self.figure(Statistic::Mean).filter(|_| self.failed == 0)
    }
}

fn of_gain(purpose: &DelayPurpose) -> Option<Option<&str>> {
    match purpose {
        DelayPurpose::Gain(link) => Some(link.as_deref()),
        DelayPurpose::Slope(_) | DelayPurpose::HalfRate(_) => None,
    }
}
