//! Stages of a load as written, and the profiles that a stage may have.

use deserr::Deserr;
use plimsoll_base::document::{DurationText, EdgeRateText, RateText};
use plimsoll_load::plan::Spacing;
use schemars::JsonSchema;

use super::UsersWire;

/// A part of the load: exactly one of `rate`, `ramp`, `staircase`, `stress_peak`, `at_once`, `replay` (open model), `users` (closed
/// model) and `nothing` (either).
#[derive(Debug, Clone, Default, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Stage", deny_unknown_fields)]
pub struct StageWire {
    /// One rate of arrivals.
    #[deserr(default)]
    pub rate: Option<RateText>,
    /// A rate that changes linearly.
    #[deserr(default)]
    pub ramp: Option<RampWire>,
    /// Levels of constant rate, one above the other.
    #[deserr(default)]
    pub staircase: Option<StaircaseWire>,
    /// So many arrivals, whose rate swells and ebbs: their count follows a smooth step, as Gatling's `stressPeakUsers` do.
    #[deserr(default)]
    pub stress_peak: Option<u64>,
    /// So many arrivals in one moment.
    #[deserr(default)]
    pub at_once: Option<u64>,
    /// No arrival, or no user, for this long.
    #[deserr(default)]
    pub nothing: Option<DurationText>,
    /// A file of arrival times, one a line, ascending: seconds, or a duration with its unit, from the start of the stage. Relative to this file.
    #[deserr(default)]
    pub replay: Option<String>,
    /// Users, or how their number changes.
    #[deserr(default)]
    pub users: Option<UsersWire>,
    /// How arrivals are spread. Default: as the load says.
    #[deserr(default)]
    pub profile: Option<ArrivalWire>,
    /// How long the stage lasts. It may be left out where its levels, its spawn rate or its arrival times say so.
    #[deserr(rename = "for", default)]
    #[schemars(rename = "for")]
    pub lasts: Option<DurationText>,
}

/// How arrivals of one rate are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, JsonSchema)]
#[deserr(rename_all = lowercase)]
#[schemars(rename = "Arrival", rename_all = "lowercase")]
pub enum ArrivalWire {
    /// Evenly.
    Constant,
    /// With exponential gaps, like independent callers.
    Poisson,
    /// One at a random moment of each slot of 1/rate: never further apart than two slots.
    Slots,
}

impl ArrivalWire {
    /// In the plan's terms.
    #[must_use]
    pub fn spacing(self) -> Spacing {
        match self {
            Self::Constant => Spacing::Even,
            Self::Poisson => Spacing::Poisson,
            Self::Slots => Spacing::Slots,
        }
    }
}

/// A rate that changes linearly.
#[derive(Debug, Clone, Copy, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Ramp", deny_unknown_fields)]
pub struct RampWire {
    /// The rate at its start; may be `0/s`.
    pub from: EdgeRateText,
    /// The rate at its end; may be `0/s`.
    pub to: EdgeRateText,
}

/// Levels of constant rate.
#[derive(Debug, Clone, Copy, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Staircase", deny_unknown_fields)]
pub struct StaircaseWire {
    /// The rate of the first level; may be `0/s`.
    pub from: EdgeRateText,
    /// Added from level to level.
    pub step: RateText,
    /// How long a level lasts.
    pub every: DurationText,
    /// How many levels there are; the last one is held for as long as the stage lasts. Default: as many as fit in.
    #[deserr(default)]
    pub levels: Option<u32>,
}
