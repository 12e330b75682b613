//! Expected seconds of a year from the trials of each fault: `Σ servers · rate · ((1 − q) · lost + q · repair · impact)`, with an interval.
//!
//! `q` is the chance that callers do not recover by themselves, be it that they do not at all or that the heal ended it: then somebody repairs
//! it. For the upper end it is drawn from Beta(failed + 1, n − failed), for the lower
//! from Beta(failed, n − failed + 1), the two halves of Clopper and Pearson's interval: Jeffreys' Beta(failed + ½, …) holds 0.87 where 0.95 is
//! claimed (20 trials, q = 0.1). Means of what is lost are drawn as bootstrap-t has them, rates that were counted from Gamma(n + ½, years).

use super::draws::{beta, gamma};
use super::figures::Impact;
use crate::record::{Bounds, FaultRate};
use crate::statistics::{Pivot, Sample};
use plimsoll_base::random::{Draw, Stream};

/// Draws of each end.
const DRAWS: usize = 4_000;
/// An end is right with so much by itself.
const CERTAIN: f64 = 0.95;

/// One fault as a year is made of it.
#[derive(Debug, Clone, PartialEq)]
pub struct FaultInputs {
    /// Its row.
    pub name: String,
    /// How many may have it.
    pub servers: f64,
    /// How often one of them has it in a year.
    pub per_year: FaultRate,
    /// Lost-request seconds of each trial from which callers recovered by themselves, those of the heal included.
    pub lost_s: Vec<f64>,
    /// Trials from which they did not.
    pub failed: u64,
    /// Those of `failed` from which they came back when the fault was healed.
    pub ended_by_heal: u64,
    /// The share of arrivals that fail until it is repaired.
    pub impact: Impact,
    /// The median of its outages, for the product formula.
    pub median_s: f64,
}

impl FaultInputs {
    /// Faults of one server in a year, on average of what is known.
    pub(super) fn rate(&self) -> f64 {
        match self.per_year {
            FaultRate::Declared(rate) => rate,
            FaultRate::Counted { count, years } => (f64::from(count) + 0.5) / years,
        }
    }

    pub(super) fn draw_rate(&self, draw: &mut Draw) -> f64 {
        match self.per_year {
            FaultRate::Declared(rate) => rate,
            FaultRate::Counted { count, years } => gamma(f64::from(count) + 0.5, draw) / years,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a number of trials")]
    pub(super) fn trials(&self) -> (f64, f64) {
        (self.failed as f64, self.lost_s.len() as f64)
    }

    /// The share of trials from which callers did not recover; 0 without any.
    pub(super) fn failed_share(&self) -> f64 {
        let (failed, recovered) = self.trials();
        if self.failed == 0 {
            0.0
        } else {
            failed / (failed + recovered)
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a number of trials")]
    pub(super) fn mean_lost(&self) -> f64 {
        match self.lost_s.len() {
            0 => 0.0,
            size => self.lost_s.iter().sum::<f64>() / size as f64,
        }
    }
}

/// Values of what a fault's part of a year is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Values {
    /// Faults a year over all servers.
    pub(super) faults: f64,
    /// The chance that callers do not recover.
    pub(super) failed: f64,
    /// Lost-request seconds where they do.
    pub(super) lost: f64,
    /// Lost-request seconds where they do not.
    pub(super) repair: f64,
}

impl Values {
    /// The estimates.
    pub(super) fn of(fault: &FaultInputs, repair_s: f64) -> Self {
        Self {
            faults: fault.servers * fault.rate(),
            failed: fault.failed_share(),
            lost: fault.mean_lost(),
            repair: repair_s * fault.impact.estimate,
        }
    }

    pub(super) fn recovered_s(&self) -> f64 {
        self.faults * (1.0 - self.failed) * self.lost
    }

    pub(super) fn repaired_s(&self) -> f64 {
        self.faults * self.failed * self.repair
    }

    pub(super) fn seconds(&self) -> f64 {
        self.recovered_s() + self.repaired_s()
    }
}

/// Which end of an interval is drawn for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The lower.
    Low,
    /// The upper.
    High,
}

impl End {
    pub(super) const BOTH: [Self; 2] = [Self::Low, Self::High];

    /// The place of this end among sorted draws, 0 to 1.
    pub(super) fn place(self) -> f64 {
        match self {
            Self::Low => 1.0 - CERTAIN,
            Self::High => CERTAIN,
        }
    }

    /// The share of arrivals that fail until a fault is repaired, as it is taken for this end.
    pub(super) fn impact(self, fault: &FaultInputs) -> f64 {
        match self {
            Self::Low => fault.impact.estimate,
            Self::High => fault.impact.high,
        }
    }

    /// Shapes of the distribution of the chance that callers do not recover.
    pub(super) fn shapes(self, fault: &FaultInputs) -> (f64, f64) {
        let (failed, recovered) = fault.trials();
        match self {
            Self::Low => (failed, recovered + 1.0),
            Self::High => (failed + 1.0, recovered),
        }
    }
}

/// The mean of what is lost, as far as trials leave it open.
pub(super) struct MeanLost(Option<(Sample, Pivot)>, f64);

impl MeanLost {
    pub(super) fn of(fault: &FaultInputs, seed: u64, index: u64) -> Self {
        let pivot = || Pivot::of_skewed(&fault.lost_s, seed, index);
        let open = Sample::of(&fault.lost_s).map(|sample| (sample, pivot()));
        Self(open, fault.mean_lost())
    }

    /// The mean at this place, 0 to 1, among those that are possible.
    pub(super) fn at(&self, place: f64) -> f64 {
        let Self(open, mean) = self;
        open.as_ref().map_or(*mean, |(sample, pivot)| {
            pivot.mean_at(sample, place).max(0.0)
        })
    }
}

/// Expected seconds of a year: of all faults together, and of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// All together.
    pub total: Bounds,
    /// Each, in their order.
    pub by_fault: Vec<Bounds>,
}

/// Expected seconds of a year, each end of an interval right with 95 % by itself. A fault that is not recovered from is repaired within
/// `repair_s`.
#[must_use]
pub fn expected(faults: &[FaultInputs], repair_s: f64, seed: u64) -> Expected {
    let lost: Vec<MeanLost> = (faults.iter().zip(0..))
        .map(|(fault, index)| MeanLost::of(fault, seed, index))
        .collect();
    let [low, high] = End::BOTH.map(|end| ends(faults, &lost, repair_s, (end, seed)));
    let values = faults.iter().map(|fault| Values::of(fault, repair_s));
    let values: Vec<f64> = values.map(|values| values.seconds()).collect();
    // Of skewed draws the ends may lie on one side of the estimate.
    let bounds = |value: f64, low: f64, high: f64| Bounds {
        value,
        low: low.min(value),
        high: high.max(value),
    };
    let by_fault = values.iter().zip(low.1.iter().zip(&high.1));
    Expected {
        total: bounds(values.iter().sum(), low.0, high.0),
        by_fault: by_fault
            .map(|(value, (low, high))| bounds(*value, *low, *high))
            .collect(),
    }
}

/// One end: of all faults together, and of each.
fn ends(
    faults: &[FaultInputs],
    lost: &[MeanLost],
    repair_s: f64,
    (end, seed): (End, u64),
) -> (f64, Vec<f64>) {
    let mut draw = Draw::new(seed, Stream::Resample, 1 << 32 | end as u64);
    let mut totals = vec![0.0; DRAWS];
    let mut each = Vec::new();
    for (fault, lost) in faults.iter().zip(lost) {
        let repair = repair_s * end.impact(fault);
        let (a, b) = end.shapes(fault);
        let mut drawn: Vec<f64> = totals
            .iter_mut()
            .map(|total| {
                let values = Values {
                    faults: fault.servers * fault.draw_rate(&mut draw),
                    failed: beta(a, b, &mut draw),
                    lost: lost.at(draw.unit()),
                    repair,
                };
                *total += values.seconds();
                values.seconds()
            })
            .collect();
        each.push(quantile(&mut drawn, end.place()));
    }
    (quantile(&mut totals, end.place()), each)
}

/// The value at this place, 0 to 1, among `draws`, of which there must be some.
pub(super) fn quantile(draws: &mut [f64], place: f64) -> f64 {
    draws.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a rank among some thousand draws"
    )]
    let rank = (place * draws.len() as f64).ceil().max(1.0) as usize;
    draws[rank.min(draws.len()) - 1]
}
