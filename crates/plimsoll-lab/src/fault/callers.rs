//! Figures of callers over those seconds of a load that belong together.

use crate::record::collect::Collector;
use plimsoll_load::fragment::Fragment;
use plimsoll_load::plan::Plan;
use plimsoll_report::record::{ArmData, CallerFigures};
use plimsoll_report::summarise;

/// Seconds of a load, added up.
pub(super) struct Callers(Collector);

impl Callers {
    /// No second yet of the load by this plan, of which `data` says whose it is.
    pub(super) fn new(data: &ArmData, plan: &Plan, block: u32) -> Self {
        let steps = plan.steps.iter().map(|step| step.name.clone()).collect();
        let empty = ArmData::new(&data.name, &data.target, data.model, data.offered_per_s);
        Self(Collector::new(empty, block, steps))
    }

    pub(super) fn add(&mut self, fragment: &Fragment) {
        self.0.add(fragment);
    }

    pub(super) fn into_data(self) -> ArmData {
        self.0.into_data()
    }

    pub(super) fn figures(self) -> CallerFigures {
        summarise::callers(&self.into_data())
    }
}
