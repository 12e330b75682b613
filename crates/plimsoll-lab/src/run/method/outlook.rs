//! How long the loads of a run take that are left, said when each of them begins.
//!
//! The file says how long every load is. What goes on around one (a generator starts, components start anew, the last answers come) is
//! known from those that are over.

use crate::progress::Ahead;
use plimsoll_experiment::{Arm, LoadedScenario};

/// The loads of a run that are left, in order of nothing. All times are in seconds.
#[derive(Debug, Clone)]
pub(super) struct Outlook {
    /// When the first began.
    began: Option<f64>,
    over: f64,
    over_s: f64,
    left: f64,
    /// `None` if one of them ends with its iterations: nobody knows when.
    left_s: Option<f64>,
}

impl Outlook {
    /// Of loads of these lengths.
    pub(super) fn of(lengths: impl IntoIterator<Item = Option<f64>>) -> Self {
        let lengths: Vec<Option<f64>> = lengths.into_iter().collect();
        #[expect(clippy::cast_precision_loss, reason = "a number of loads")]
        let left = lengths.len() as f64;
        Self {
            began: None,
            over: 0.0,
            over_s: 0.0,
            left,
            left_s: lengths.into_iter().sum(),
        }
    }

    /// One more of this length.
    pub(super) fn add(&mut self, length: f64) {
        self.left += 1.0;
        self.left_s = self.left_s.map(|left_s| left_s + length);
    }

    /// One of this length is not run.
    pub(super) fn leave_out(&mut self, length: f64) {
        self.left = (self.left - 1.0).max(0.0);
        self.left_s = self.left_s.map(|left_s| (left_s - length).max(0.0));
    }

    /// Time ahead when a load of this length begins at `now`.
    pub(super) fn begin(&mut self, length: Option<f64>, now: f64) -> Ahead {
        let began = *self.began.get_or_insert(now);
        let around_s = (now - began - self.over_s).max(0.0) / self.over.max(1.0);
        let several = self.over + self.left > 1.0;
        let ahead = match self.left_s.filter(|_| several) {
            Some(left_s) => Ahead::Run(left_s + around_s * self.left),
            None => Ahead::Load,
        };
        let length = length.unwrap_or_default();
        self.left_s = self.left_s.map(|left_s| (left_s - length).max(0.0));
        self.left = (self.left - 1.0).max(0.0);
        self.over += 1.0;
        self.over_s += length;
        ahead
    }
}

/// The length of an arm's load, warm-up included; `None` if it ends with its iterations.
pub(super) fn length(arm: &Arm) -> Option<f64> {
    let ends_with_them = |load: &LoadedScenario| load.iterations.is_some();
    let total = arm.settings.warmup + arm.settings.duration;
    (!arm.scenarios.iter().all(ends_with_them)).then_some(total.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_between_loads_is_learnt_from_those_that_are_over() {
        let mut outlook = Outlook::of([Some(10.0), Some(10.0), Some(20.0)]);
        assert_eq!(outlook.begin(Some(10.0), 3.0), Ahead::Run(40.0));
        // Two seconds around the first, so two around each of the others.
        assert_eq!(outlook.begin(Some(20.0), 15.0), Ahead::Run(34.0));
        assert_eq!(outlook.begin(Some(10.0), 37.0), Ahead::Run(12.0));
    }

    #[test]
    fn one_load_has_nothing_beyond_it_and_iterations_end_nobody_knows_when() {
        assert_eq!(
            Outlook::of([Some(10.0)]).begin(Some(10.0), 0.0),
            Ahead::Load
        );
        let mut unknown = Outlook::of([Some(10.0), None]);
        assert_eq!(unknown.begin(Some(10.0), 0.0), Ahead::Load);
    }
}
