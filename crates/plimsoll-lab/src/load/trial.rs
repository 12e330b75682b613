//! A load of `availability`: what became of every arrival, and when callers have recovered, so that it may end.

use super::control::Control;
use plimsoll_base::single_exchange::SingleExchange;
use plimsoll_load::fragment::Fragment;
use plimsoll_report::availability::{baseline_p99, recovered};
use plimsoll_report::record::{AvailabilitySettings, ControlFigures, FaultRow};

/// How a trial is watched.
#[derive(Debug, Clone, Copy)]
pub struct TrialSpec<'a> {
    /// The definitions that it is read by.
    pub settings: &'a AvailabilitySettings,
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
    /// Components that died, though nobody broke them.
    pub died: Vec<String>,
    /// Why the control load says nothing, if it does not.
    pub without_control: Option<String>,
}

/// A trial under way.
pub(super) struct TrialWatch {
    settings: AvailabilitySettings,
    /// So long after its intended start an exchange has ended, or failed by now.
    known_after_s: f64,
    exchanges: Vec<SingleExchange>,
    pub(super) control: Control,
    pub(super) died: Vec<String>,
    pub(super) has_recovered: bool,
}

impl TrialWatch {
    pub(super) fn new(spec: TrialSpec<'_>, known_after_s: f64, control: Control) -> Self {
        Self {
            settings: spec.settings.clone(),
            known_after_s,
            exchanges: Vec::new(),
            control,
            died: Vec::new(),
            has_recovered: false,
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
        let (injected, healed) = (fault.injected - start, healed - start);
        let now = fragment.start_s + fragment.length_s;
        let known = now - self.known_after_s;
        // Who recovers at the last moment has yet to settle.
        let settled = self.settings.abort_s + self.settings.settle_s;
        if now > healed + settled + self.known_after_s {
            return true;
        }
        if known < healed + self.settings.settle_s {
            return false;
        }
        self.sort();
        let within = |from: f64, to: f64| {
            let place = |at: f64| {
                self.exchanges
                    .partition_point(|one| seconds(one.intended_us) < at)
            };
            &self.exchanges[place(from)..place(to).max(place(from))]
        };
        let baseline = baseline_p99(within(warmup, injected));
        let since = within(healed, known);
        self.has_recovered = recovered(&self.settings, baseline, healed, known, since).is_some();
        self.has_recovered
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

#[expect(clippy::cast_precision_loss, reason = "exact for 285 years")]
fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}
