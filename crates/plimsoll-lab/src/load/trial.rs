//! A load of `availability`: what became of every arrival, and when callers have recovered, so that it may end.

use super::control::Control;
use crate::fault::Aim;
use plimsoll_base::single_exchange::SingleExchange;
use plimsoll_load::fragment::Fragment;
use plimsoll_report::availability::{Moments, has_recovered};
use plimsoll_report::record::{AvailabilitySettings, ControlFigures, FaultRow};
use std::time::Duration;

/// How a trial is watched.
#[derive(Debug, Clone, Copy)]
pub struct TrialSpec<'a> {
    /// The definitions that it is read by.
    pub settings: &'a AvailabilitySettings,
    /// So long after its intended start an exchange has ended, or failed by then.
    pub known_after: Duration,
    /// Who chooses whom its fault breaks, where roles decide.
    pub(crate) aim: Option<&'a Aim>,
}

/// Record of a trial that is over. Moments are in seconds since its load began.
#[derive(Debug, Default)]
pub struct TrialRecord {
    /// The fate of every arrival, in the order of their intended starts.
    pub exchanges: Vec<SingleExchange>,
    /// Seconds since the run began to the start of the load.
    pub start: f64,
    /// Where the warm-up ended.
    pub measured: f64,
    /// Where arrivals ended.
    pub ended: f64,
    /// The control load beside it.
    pub control: ControlFigures,
    /// Whether a component died, though nobody broke it.
    pub died: bool,
    /// Why the control load says nothing, if it does not.
    pub without_control: Option<String>,
}

/// A trial under way.
pub(super) struct TrialWatch {
    settings: AvailabilitySettings,
    known_after_s: f64,
    exchanges: Vec<SingleExchange>,
    pub(super) control: Control,
    pub(super) died: bool,
}

impl TrialWatch {
    pub(super) fn new(spec: TrialSpec<'_>, control: Control) -> Self {
        Self {
            settings: spec.settings.clone(),
            known_after_s: spec.known_after.as_secs_f64(),
            exchanges: Vec::new(),
            control,
            died: false,
        }
    }

    pub(super) fn add(&mut self, exchanges: &[SingleExchange]) {
        self.exchanges.extend_from_slice(exchanges);
    }

    /// Whether callers have recovered from a fault that is healed, or never will in time; `start` and `warmup` are of the load.
    pub(super) fn is_over(
        &mut self,
        fragment: &Fragment,
        fault: Option<&FaultRow>,
        (start, warmup): (f64, f64),
    ) -> bool {
        let Some((fault, healed)) = fault.and_then(|fault| Some((fault, fault.healed?))) else {
            return false;
        };
        let now = fragment.start_s + fragment.length_s;
        let moments = Moments {
            measured: warmup,
            injected: fault.injected - start,
            healed: healed - start,
            known: now - self.known_after_s,
        };
        let since_healed = moments.known - moments.healed;
        // Who recovers at the last moment has yet to settle.
        if since_healed > self.settings.abort_s + self.settings.settle_s {
            return true;
        }
        if since_healed < self.settings.settle_s {
            return false;
        }
        self.sort();
        has_recovered(&self.settings, moments, &self.exchanges)
    }

    fn sort(&mut self) {
        self.exchanges.sort_by_key(|one| one.intended_us);
    }

    /// Its record; `start`, `measured` and `ended` as there.
    pub(super) async fn into_record(
        mut self,
        start: f64,
        measured: f64,
        ended: f64,
    ) -> TrialRecord {
        self.sort();
        let control = self.control.over((start + measured, start + ended)).await;
        let (control, without_control) = match control {
            Ok(figures) => (figures, None),
            Err(why) => (ControlFigures::default(), Some(why)),
        };
        TrialRecord {
            exchanges: self.exchanges,
            start,
            measured,
            ended,
            control,
            died: self.died,
            without_control,
        }
    }
}
