//! Years by chance: a compound Poisson process, in which each fault is lost as one of its trials was, or is repaired.
//!
//! Every year draws anew what trials leave open: rates that were counted, and the chance that callers do not recover from
//! Beta(failed + ½, n − failed + ½). A year is thus less certain than by the estimates alone.

use super::draws::{beta, poisson};
use super::year::{FaultInputs, quantile};
use crate::record::Year;
use plimsoll_base::random::{Draw, Stream};

/// How many years.
const YEARS: usize = 10_000;

/// Simulates years.
pub(super) fn years(
    faults: &[FaultInputs],
    repair_s: f64,
    within_s: Option<f64>,
    seed: u64,
) -> Year {
    let mut draw = Draw::new(seed, Stream::Resample, 1 << 33);
    let mut lost: Vec<f64> = (0..YEARS)
        .map(|_| {
            let of_each = faults.iter();
            of_each
                .map(|fault| of_one(fault, repair_s, &mut draw))
                .sum()
        })
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "a share of years")]
    let within = within_s.map(|within| {
        let kept = lost.iter().filter(|seconds| **seconds <= within);
        kept.count() as f64 / YEARS as f64
    });
    Year {
        p50: quantile(&mut lost, 0.5),
        p95: quantile(&mut lost, 0.95),
        p99: quantile(&mut lost, 0.99),
        within,
    }
}

/// Seconds that one fault takes of one year.
fn of_one(fault: &FaultInputs, repair_s: f64, draw: &mut Draw) -> f64 {
    let mean = fault.servers * fault.draw_rate(draw);
    let (failed, recovered) = fault.trials();
    let chance = beta(failed + 0.5, recovered + 0.5, draw);
    let faults = poisson(mean, draw);
    let mut seconds = 0.0;
    for _ in 0..faults {
        seconds += if draw.unit() < chance {
            repair_s * fault.impact
        } else {
            one_of(&fault.lost_s, draw)
        };
    }
    seconds
}

fn one_of(values: &[f64], draw: &mut Draw) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let place = draw.below(values.len() as u64);
    values[usize::try_from(place).expect("invariant: below a length")]
}
