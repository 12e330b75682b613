//! Rates beside throughput. A rate counts iterations and throughput counts exchanges; where an iteration is not one exchange, what was offered
//! is shown in exchanges too, under a head that says so, and a sentence says what the rate was.

use super::words::number;
use crate::analysis::bearing::ONE;
use crate::record::{ArmSummary, LevelSummary, MethodName, StepSummary, Summary};
use plimsoll_base::units::format_number;

/// Exchanges of an iteration, on the mean over a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PerIteration(f64);

impl PerIteration {
    /// Exchanges of the arm's iterations; of a search, those of the trial that stands for it.
    pub(super) fn of_arm(arm: &ArmSummary) -> Self {
        Self::of(arm.by_step.values(), arm.sent)
    }

    /// Most exchanges of the iterations of levels: where a level fails, its iterations end early, and it was offered whole ones all the same.
    pub(super) fn of_levels(levels: &[LevelSummary]) -> Self {
        let each = levels
            .iter()
            .map(|level| Self::of(level.by_step.values(), level.sent).0);
        Self(each.fold(1.0, f64::max))
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean for people")]
    fn of<'a>(steps: impl Iterator<Item = &'a StepSummary>, iterations: u64) -> Self {
        let exchanges: u64 = steps.map(|step| step.sent).sum();
        let mean = exchanges as f64 / iterations.max(1) as f64;
        Self(if mean > *ONE.end() { mean } else { 1.0 })
    }

    /// Whether an iteration is more than one exchange.
    pub(super) fn is_several(self) -> bool {
        self.0 > *ONE.end()
    }

    /// The exchanges that so many iterations make.
    pub(super) fn exchanges(self, iterations: f64) -> f64 {
        self.0 * iterations
    }

    /// A rate of iterations as one of exchanges, for a cell.
    pub(super) fn offered(self, iterations_per_s: Option<f64>) -> String {
        number(iterations_per_s.map(|rate| self.exchanges(rate)))
    }

    /// Unit of throughput, where that must be said.
    pub(super) fn unit(self) -> &'static str {
        if self.is_several() {
            " exchanges/s"
        } else {
            "/s"
        }
    }
}

/// Whether an iteration of some arm is more than one exchange.
pub(super) fn differ(summary: &Summary) -> bool {
    let mut arms = summary.arms.values();
    arms.any(|arm| PerIteration::of_arm(arm).is_several())
}

/// The head of the column of what was offered, in the unit of throughput.
pub(super) fn offered_head(differ: bool) -> &'static str {
    if differ {
        "offered exchanges/s"
    } else {
        "offered/s"
    }
}

/// The head of a column of rates that were offered.
pub(super) fn rate_head(differ: bool) -> &'static str {
    if differ { "iterations/s" } else { "rate/s" }
}

/// Unit of the axes of a chart of throughput over rates, as a further sentence of its caption.
pub(super) fn axes(differ: bool) -> &'static str {
    match differ {
        true => " Across: iterations offered per second; upwards: exchanges per second.",
        false => "",
    }
}

/// Unit of rates, for every arm of which that must be said.
pub(super) fn said(summary: &Summary) -> Vec<String> {
    let of_arm = |(name, arm): (&String, &ArmSummary)| {
        let per_iteration = PerIteration::of_arm(arm);
        let each = format!(
            "{name}: a rate counts iterations, of {} exchanges each on the mean; throughput counts exchanges",
            format_number(per_iteration.0)
        );
        let offered = arm
            .offered_per_s
            .filter(|_| summary.method != MethodName::Levels);
        let so = offered.map_or_else(String::new, |rate| {
            format!(
                ": {} iterations/s are {} exchanges/s",
                format_number(rate),
                format_number(per_iteration.exchanges(rate))
            )
        });
        per_iteration.is_several().then(|| each + &so)
    };
    summary.arms.iter().filter_map(of_arm).collect()
}
