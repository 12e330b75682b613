//! How many more trials without a failed failover would bring the upper end of the expected seconds down to `within`.

use super::draws::gamma;
use super::product::failures_afforded;
use super::year::{End, FaultInputs, Values, quantile};
use crate::record::TrialsNeeded;
use plimsoll_base::random::{Draw, Stream};

/// Draws of the upper end.
const DRAWS: usize = 2_000;
/// More trials than this are not counted.
const MOST: f64 = 1e8;

/// The trials that are needed; `None` where what callers recover from takes more than `within` already, or no number of trials would do.
pub(super) fn needed(
    faults: &[FaultInputs],
    repair_s: f64,
    within_s: f64,
    seed: u64,
) -> Option<TrialsNeeded> {
    let values: Vec<Values> = (faults.iter())
        .map(|fault| Values::of(fault, repair_s))
        .collect();
    let recovered: f64 = values.iter().map(|one| one.faults * one.lost).sum();
    let room = within_s - recovered;
    let drawn = Drawn::of(faults, &values, seed);
    if room <= 0.0 || drawn.upper_end(MOST) > room {
        return None;
    }
    // Halved in the logarithm: two digits are all that such a figure is worth.
    let (mut too_few, mut enough) = (0.0, MOST);
    while enough - too_few > (enough * 1e-3).max(1.0) {
        let middle = match too_few < 1.0 {
            true => enough.sqrt().max(0.5),
            false => (too_few * enough).sqrt(),
        };
        match drawn.upper_end(middle) > room {
            true => too_few = middle,
            false => enough = middle,
        }
    }
    Some(TrialsNeeded {
        of_each: whole(enough),
        pooled: pooled(
            faults,
            room,
            values.iter().map(|one| one.faults * one.repair).sum(),
        ),
    })
}

/// Trials beyond those that were made, if all faults had one chance to fail and none has.
fn pooled(faults: &[FaultInputs], room_s: f64, priced_s: f64) -> Option<u64> {
    let (_, trials) = failures_afforded(room_s, priced_s)?;
    let made: f64 = faults.iter().map(|fault| fault.trials().1).sum();
    let none_failed = faults.iter().all(|fault| fault.failed == 0);
    none_failed.then(|| whole((trials - made).max(0.0)))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of trials"
)]
fn whole(trials: f64) -> u64 {
    trials.ceil() as u64
}

/// Chances to fail, up to the number of trials that they are divided by.
struct Drawn {
    /// By draw and fault: what all of its failures in a year would take, times the numerator of their chance.
    numerators: Vec<Vec<f64>>,
    /// By fault: trials from which callers recovered.
    recovered: Vec<f64>,
    /// By fault and draw: what all of its failures would take.
    priced: Vec<f64>,
}

impl Drawn {
    fn of(faults: &[FaultInputs], values: &[Values], seed: u64) -> Self {
        let mut draw = Draw::new(seed, Stream::Resample, 1 << 34);
        let numerators = (0..DRAWS).map(|_| {
            let shapes = faults.iter().map(|fault| End::High.shapes(fault).0);
            shapes.map(|shape| gamma(shape, &mut draw)).collect()
        });
        Self {
            numerators: numerators.collect(),
            recovered: faults.iter().map(|fault| fault.trials().1).collect(),
            priced: values.iter().map(|one| one.faults * one.repair).collect(),
        }
    }

    /// The upper end of what failures take of a year, with so many more trials of each. The denominator of Beta(a, b), a sum of two gammas, is
    /// taken at its mean in the second.
    fn upper_end(&self, more: f64) -> f64 {
        let mut totals: Vec<f64> = self
            .numerators
            .iter()
            .map(|row| {
                let by_fault = row.iter().zip(self.recovered.iter().zip(&self.priced));
                by_fault
                    .map(|(top, (made, priced))| priced * top / (top + made + more))
                    .sum()
            })
            .collect();
        quantile(&mut totals, End::High.place())
    }
}
