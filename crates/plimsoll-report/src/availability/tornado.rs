//! Which input moves the expected seconds of a year most: each at the ends of its interval, all others at their estimates.

use super::year::{End, FaultInputs, MeanLost, Values, quantile};
use crate::record::TornadoBar;
use plimsoll_base::random::{Draw, Stream};
use statrs::distribution::{Beta, ContinuousCDF as _};

/// Draws of a rate that was counted.
const DRAWS: usize = 4_000;

/// Bars, the widest first. A rate that was declared has no interval and no bar.
pub(super) fn bars(faults: &[FaultInputs], repair_s: f64, seed: u64) -> Vec<TornadoBar> {
    let values: Vec<Values> = (faults.iter())
        .map(|fault| Values::of(fault, repair_s))
        .collect();
    let total: f64 = values.iter().map(Values::seconds).sum();
    let mut bars = Vec::new();
    for ((fault, own), index) in faults.iter().zip(&values).zip(0..) {
        let rest = total - own.seconds();
        let bar = |input: &str, ends: [f64; 2], with: fn(Values, f64) -> Values| {
            let [low_s, high_s] = ends.map(|end| rest + with(*own, end).seconds());
            TornadoBar {
                input: format!("{}: {input}", fault.name),
                low: ends[0],
                high: ends[1],
                low_s,
                high_s,
            }
        };
        let chances = End::BOTH.map(|end| chance(end, fault));
        bars.push(bar("share that is repaired", chances, |own, failed| {
            Values { failed, ..own }
        }));
        let lost = MeanLost::of(fault, seed, index);
        let lost = End::BOTH.map(|end| lost.at(end.place()));
        bars.push(bar("mean lost seconds", lost, |own, lost| Values {
            lost,
            ..own
        }));
        let rates = End::BOTH.map(|end| fault.servers * rate(end, fault, seed, index));
        bars.push(bar("faults a year", rates, |own, faults| Values {
            faults,
            ..own
        }));
    }
    let width = |bar: &TornadoBar| (bar.high_s - bar.low_s).abs();
    bars.retain(|bar| width(bar) > 0.0);
    bars.sort_by(|one, other| width(other).total_cmp(&width(one)));
    bars
}

/// An end of the chance that callers do not recover.
fn chance(end: End, fault: &FaultInputs) -> f64 {
    let (a, b) = end.shapes(fault);
    if a <= 0.0 {
        return 0.0;
    }
    Beta::new(a, b).map_or(1.0, |chance| chance.inverse_cdf(end.place()))
}

fn rate(end: End, fault: &FaultInputs, seed: u64, index: u64) -> f64 {
    let mut draw = Draw::new(seed, Stream::Resample, (1 << 35) + index);
    let mut rates: Vec<f64> = (0..DRAWS).map(|_| fault.draw_rate(&mut draw)).collect();
    quantile(&mut rates, end.place())
}
