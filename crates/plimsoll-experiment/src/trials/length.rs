//! How long trials take, and how many there are.

use std::time::Duration;

use crate::arm::Arm;
use crate::component::{Component, ComponentKind};
use crate::fault::Fault;
use crate::method::availability::{Availability, Choice, FEWEST_TRIALS, HEALTHY, Row};

/// Between that and the earliest moment of a fault.
const LEAD: Duration = Duration::from_millis(500);
/// How long the proof of a heal may take beyond a fault's own time, and that of a start.
const HEALING: Duration = Duration::from_secs(30);
/// How long it may take until somebody leads.
const ASKING: Duration = Duration::from_secs(10);
/// Time around the load of a trial: a generator starts and ends.
const AROUND: Duration = Duration::from_millis(500);

impl Availability {
    /// The earliest moment of a fault in the measured time.
    #[must_use]
    pub fn earliest(&self) -> Duration {
        HEALTHY + LEAD
    }

    /// How long the measured time of a trial of an arm may last whose fault lasts for so long: until it is given up, however long these
    /// components take to start.
    #[must_use]
    pub fn longest(&self, lasts: Duration, arm: &Arm, components: &[Component]) -> Duration {
        let starts = components.iter().filter_map(|one| match &one.kind {
            ComponentKind::Command(command) => Some(command.ready_within),
            _ => None,
        });
        let start = starts.max().unwrap_or_default();
        let by_role = |row: &Row| matches!(row.choice, Choice::ByRole { .. });
        let asking = match self.rows.iter().any(by_role) {
            true => ASKING,
            false => Duration::ZERO,
        };
        asking + self.usual(lasts, arm) + start + HEALING + self.abort
    }

    /// How long it lasts where callers recover at once.
    #[must_use]
    pub fn usual(&self, lasts: Duration, arm: &Arm) -> Duration {
        self.earliest() + self.phase + lasts + self.settle + self.known_after(arm)
    }

    /// How long so many trials of each row take, with as many shams as belong to them, where callers recover at once.
    #[must_use]
    pub fn takes(&self, trials: u32, faults: &[Fault], arms: &[Arm]) -> Duration {
        let of_arm = |arm: &Arm| {
            let around = arm.settings.warmup + AROUND;
            let of = |(_, fault): (&Row, &Fault)| self.usual(fault.lasts, arm) + around;
            let each: Vec<Duration> = self.tried(faults, arm).map(of).collect();
            let round: Duration = each.iter().sum();
            let longest = each.iter().max().copied().unwrap_or_default();
            round * trials + longest * self.shams_of(trials)
        };
        arms.iter().map(of_arm).sum()
    }

    /// How many shams belong to so many trials of each row.
    #[must_use]
    pub fn shams_of(&self, trials: u32) -> u32 {
        let shams = u64::from(self.shams) * u64::from(trials);
        let shams = shams.div_ceil(u64::from(self.trials.max(1)));
        u32::try_from(shams)
            .unwrap_or(u32::MAX)
            .max(FEWEST_TRIALS.min(self.shams))
    }

    /// How many trials of each row there are: as many as are wanted, or as fit into the budget.
    #[must_use]
    pub fn fitting(&self, faults: &[Fault], arms: &[Arm]) -> u32 {
        let Some(budget) = self.budget else {
            return self.trials;
        };
        let fits = |trials: &u32| self.takes(*trials, faults, arms) <= budget;
        let mut fitting = (FEWEST_TRIALS..=self.trials).rev();
        fitting.find(fits).unwrap_or(FEWEST_TRIALS)
    }
}
