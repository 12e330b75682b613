//! Bursts of failures, and how long an outage each shows.

use super::answers::Answer;
use super::slice::{self, Length};

/// A moment of an exchange, which is known but for the time between these two.
#[derive(Clone, Copy)]
struct Moment {
    earliest: fn(&Answer) -> f64,
    latest: fn(&Answer) -> f64,
}

/// When its caller wanted it.
const INTENDED: Moment = Moment {
    earliest: |one| one.at,
    latest: |one| one.at,
};

/// When it met its target.
const MET: Moment = Moment {
    earliest: |one| one.released,
    latest: |one| one.met_by,
};

/// Failures with less than `gap` between their intended starts. Good answers in between are those that the fault does not hit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Burst {
    /// Places of its failures among the answers.
    pub(super) failures: Vec<usize>,
}

/// All bursts among `answers`.
pub(super) fn bursts(gap: f64, answers: &[Answer]) -> Vec<Burst> {
    let mut bursts: Vec<Burst> = Vec::new();
    let failed = answers
        .iter()
        .enumerate()
        .filter(|(_, one)| one.is_failed());
    for (place, one) in failed {
        match bursts.last_mut() {
            Some(burst) if one.at - answers[burst.last()].at < gap => burst.failures.push(place),
            _ => bursts.push(Burst {
                failures: vec![place],
            }),
        }
    }
    bursts
}

impl Burst {
    pub(super) fn first(&self) -> usize {
        self.failures[0]
    }

    pub(super) fn last(&self) -> usize {
        self.failures[self.failures.len() - 1]
    }

    /// Whether there are good answers in between.
    pub(super) fn is_partial(&self) -> bool {
        self.last() - self.first() >= self.failures.len()
    }

    /// When the last of its failures was over, in seconds of the load.
    pub(super) fn last_end(&self, answers: &[Answer]) -> f64 {
        let ends = self.failures.iter().map(|place| answers[*place].end);
        ends.fold(f64::NEG_INFINITY, f64::max)
    }

    /// The length of its outage, as intended starts and meetings with the target both allow: callers count by the first, and what was gone saw
    /// the second.
    pub(super) fn length(&self, answers: &[Answer], ended: f64) -> (f64, Length) {
        let (low, length) = self.length_by(answers, ended, INTENDED);
        let (low_met, met) = self.length_by(answers, ended, MET);
        let length = Length {
            high: length.high.max(met.high) + self.late_behind(answers, low, length),
            ..length
        };
        (low.min(low_met), length)
    }

    /// By how much those were released late, at most, of whom one may be the first that a partial outage would have hit and did not.
    fn late_behind(&self, answers: &[Answer], low: f64, length: Length) -> f64 {
        if !self.is_partial() {
            return 0.0;
        }
        let last = answers[self.last()].at;
        let until = last + (length.high - low) / 2.0;
        let next = answers[self.last() + 1..].iter();
        let next = next.take_while(|one| one.at <= until);
        next.map(|one| one.released - one.at).fold(0.0, f64::max)
    }

    /// That by these moments. Without a good answer in between it is taken for a total one, which the good answers around it bound.
    fn length_by(&self, answers: &[Answer], ended: f64, moment: Moment) -> (f64, Length) {
        let (earliest, latest) = (moment.earliest, moment.latest);
        let low = (earliest(&answers[self.last()]) - latest(&answers[self.first()])).max(0.0);
        if self.is_partial() {
            let starts = self.failures.iter().map(|place| earliest(&answers[*place]));
            let mut starts: Vec<f64> = starts.collect();
            starts.sort_by(f64::total_cmp);
            return (low, slice::length(&starts));
        }
        let before = answers[..self.first()].last().map_or(0.0, earliest);
        let after = answers.get(self.last() + 1).map_or(ended, latest);
        let total = (after - before).max(low);
        let length = Length {
            estimate: low.midpoint(total),
            high: total,
        };
        (low, length)
    }

    /// Up to when its outage may have lasted: until the next good answer met its target, where it hit all of them; else half of what is unknown
    /// of its length lies behind its last failure.
    pub(super) fn may_last_until(&self, answers: &[Answer], ended: f64) -> f64 {
        if !self.is_partial() {
            let after = answers.get(self.last() + 1);
            return after.map_or(ended, |one| one.met_by);
        }
        let (low, length) = self.length_by(answers, ended, INTENDED);
        let last = answers[self.last()].at + (length.high - low) / 2.0;
        last + self.late_behind(answers, low, length)
    }
}
