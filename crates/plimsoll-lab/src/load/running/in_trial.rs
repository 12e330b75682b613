//! A load that is a trial: deaths are something that faults do, and it ends once callers have recovered.

use super::{EventKind, Fragment, LabError, Recorder, RunningLoad, TrialWatch};

impl RunningLoad {
    /// Whether the end of a component is still news: in a trial the first is enough, too.
    pub(super) fn awaits_death(&self) -> bool {
        let of_trial = self.trial.as_ref().is_none_or(|trial| !trial.died);
        self.death.is_none() && of_trial
    }

    /// A component died: that ends a load, and in a trial is something that a fault does.
    pub(super) async fn died(
        &mut self,
        death: LabError,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), LabError> {
        let Some(trial) = &mut self.trial else {
            self.end_by_death(death).await;
            return Ok(());
        };
        trial.died = true;
        recorder.event(EventKind::ComponentDied, &death.to_string())
    }

    /// Ends a trial whose callers have recovered, or will not in time.
    pub(super) async fn end_if_recovered(&mut self, fragment: &Fragment) {
        let times = (self.scene.start, self.warmup);
        let fault = self.script.row_over();
        if let Some(trial) = &mut self.trial
            && !self.stopping
            && trial.is_over(fragment, fault, times)
        {
            self.generator.ask_to_stop().await;
        }
    }
}

/// Listens to the control load of a trial. On the run's clock that of the host began at `origin`. Pending where there is none.
pub(super) async fn listen(trial: &mut Option<TrialWatch>, origin: f64) {
    match trial {
        Some(trial) => trial.control.listen(origin).await,
        None => std::future::pending().await,
    }
}
