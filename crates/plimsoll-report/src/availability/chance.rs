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

/// More faults of one row in a year are taken together, as normal by their mean and variance.
const MANY: u32 = 200;

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
    let repair = repair_s * fault.impact.estimate;
    if faults > MANY {
        return many(f64::from(faults), (chance, repair), &fault.lost_s, draw);
    }
    let mut seconds = 0.0;
    for _ in 0..faults {
        seconds += if draw.unit() < chance {
            repair
        } else {
            one_of(&fault.lost_s, draw)
        };
    }
    seconds
}

/// Seconds of many faults.
fn many(faults: f64, (chance, repair): (f64, f64), lost_s: &[f64], draw: &mut Draw) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a number of trials")]
    let size = lost_s.len().max(1) as f64;
    let moment = |power: i32| {
        let recovered = lost_s.iter().map(|lost| lost.powi(power)).sum::<f64>() / size;
        chance * repair.powi(power) + (1.0 - chance) * recovered
    };
    let mean = moment(1);
    let variance = (moment(2) - mean * mean).max(0.0);
    (faults * mean + (faults * variance).sqrt() * draw.normal()).max(0.0)
}

fn one_of(values: &[f64], draw: &mut Draw) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let place = draw.below(values.len() as u64);
    values[usize::try_from(place).expect("invariant: below a length")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::FaultRate;

    fn year_of(per_year: f64) -> Year {
        let fault = FaultInputs {
            name: String::new(),
            servers: 2.0,
            per_year: FaultRate::Declared(per_year),
            lost_s: vec![1.0, 2.0, 3.0, 2.0],
            failed: 0,
            ended_by_heal: 0,
            impact: crate::availability::figures::Impact::WHOLE,
            median_s: 2.0,
        };
        years(&[fault], 0.0, Some(2.0 * 2.0 * per_year), 5)
    }

    /// Repairs cost nothing here, so a year is what callers recover from: at most two seconds for each of the faults, on average.
    #[test]
    fn few_faults_and_many() {
        for per_year in [5.0, 50.0, 500.0, 5_000.0] {
            let year = year_of(per_year);
            // With an average chance of 1/10 that one is repaired, for nothing.
            let mean = 2.0 * 2.0 * per_year * 0.9;
            assert!(
                (0.85..1.1).contains(&(year.p50 / mean)),
                "{per_year}: {year:?}"
            );
            assert!(year.p50 < year.p95 && year.p95 < year.p99, "{year:?}");
            assert!(
                (0.5..1.0).contains(&year.within.unwrap()),
                "{per_year}: {year:?}"
            );
        }
    }
}
