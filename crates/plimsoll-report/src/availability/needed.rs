//! How many more trials without a failed failover would bring the upper end of the expected seconds down to `within`.
//!
//! Everything is drawn that the upper end is drawn from: rates that were counted, and means of what is lost, of which more trials leave less open.

use super::draws::gamma;
use super::year::{End, FaultInputs, MeanLost, quantile};
use crate::record::TrialsNeeded;
use plimsoll_base::random::{Draw, Stream};

/// Draws of the upper end.
const DRAWS: u32 = 2_000;
/// More trials than this are not counted.
const MOST: f64 = 1e8;

/// The trials that are needed; `None` where what callers recover from takes more than `within` already, or no number of trials would do.
pub(super) fn needed(
    faults: &[FaultInputs],
    repair_s: f64,
    within_s: f64,
    seed: u64,
) -> Option<TrialsNeeded> {
    let drawn = Drawn::of(faults, repair_s, seed);
    let of_each = least(within_s, |more| drawn.upper_end(more))?;
    let none_failed = faults.iter().all(|fault| fault.failed == 0);
    let pooled = none_failed.then(|| least(within_s, |more| drawn.pooled_upper_end(more)));
    Some(TrialsNeeded {
        of_each: whole(of_each),
        pooled: pooled.flatten().map(whole),
    })
}

/// The least number of trials that brings the upper end to `within_s`; `None` where none does.
fn least(within_s: f64, upper_end: impl Fn(f64) -> f64) -> Option<f64> {
    if upper_end(MOST) > within_s {
        return None;
    }
    // Halved in the logarithm: two digits are all that such a figure is worth.
    let (mut too_few, mut enough) = (0.0, MOST);
    while enough - too_few > (enough * 1e-3).max(1.0) {
        let middle = match too_few < 1.0 {
            true => enough.sqrt().max(0.5),
            false => (too_few * enough).sqrt(),
        };
        match upper_end(middle) > within_s {
            true => too_few = middle,
            false => enough = middle,
        }
    }
    Some(enough)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of trials"
)]
fn whole(trials: f64) -> u64 {
    trials.ceil() as u64
}

/// Draws of all inputs, up to the number of trials to come.
struct Drawn<'a> {
    /// By draw and fault.
    rows: Vec<Vec<One>>,
    faults: &'a [FaultInputs],
    repair_s: f64,
}

/// Inputs of one fault in one draw.
struct One {
    /// Faults a year over all servers.
    faults: f64,
    /// The numerator of the chance that callers do not recover.
    failed: f64,
    /// By how much the mean of what is lost may be off with the trials that were made.
    off: f64,
}

impl<'a> Drawn<'a> {
    fn of(faults: &'a [FaultInputs], repair_s: f64, seed: u64) -> Self {
        let lost: Vec<MeanLost> = (faults.iter().zip(0..))
            .map(|(fault, index)| MeanLost::of(fault, seed, index))
            .collect();
        let mut draw = Draw::new(seed, Stream::Resample, 1 << 34);
        let rows = (0..DRAWS).map(|_| {
            let each = faults.iter().zip(&lost).map(|(fault, lost)| One {
                failed: gamma(End::High.shapes(fault).0, &mut draw),
                faults: fault.servers * fault.draw_rate(&mut draw),
                off: lost.at(draw.unit()) - fault.mean_lost(),
            });
            each.collect()
        });
        Self {
            rows: rows.collect(),
            faults,
            repair_s,
        }
    }

    /// The upper end with so many more trials of each. The denominator of Beta(a, b), a sum of two gammas, is taken at its mean in the second.
    fn upper_end(&self, more: f64) -> f64 {
        self.quantile(|row, _| {
            let each = self.faults.iter().zip(row);
            each.map(|(fault, one)| {
                let trials = fault.trials().1 + more;
                self.seconds(fault, one, (one.failed / (one.failed + trials), trials))
            })
            .sum()
        })
    }

    /// The upper end with so many more trials of all together, if they had one chance to fail and none has: Beta(1, trials).
    fn pooled_upper_end(&self, more: f64) -> f64 {
        let made: f64 = self.faults.iter().map(|fault| fault.trials().1).sum();
        let trials = made + more;
        self.quantile(|row, place| {
            let chance = 1.0 - (1.0 - place).powf(trials.recip());
            let each = self.faults.iter().zip(row);
            each.map(|(fault, one)| {
                let own = fault.trials().1 * trials / made.max(1.0);
                self.seconds(fault, one, (chance, own))
            })
            .sum()
        })
    }

    /// Seconds of one fault, of which there are so many trials then. What a mean may be off by shrinks with their root.
    fn seconds(&self, fault: &FaultInputs, one: &One, (chance, trials): (f64, f64)) -> f64 {
        let shrunk = (fault.trials().1 / trials.max(1.0)).sqrt().min(1.0);
        let lost = (fault.mean_lost() + shrunk * one.off).max(0.0);
        let repair = self.repair_s * End::High.impact(fault);
        one.faults * ((1.0 - chance) * lost + chance * repair)
    }

    /// The upper end of what each draw comes to. Each has a place of its own, above 0 and below 1, of which all are equally far apart.
    fn quantile(&self, of: impl Fn(&[One], f64) -> f64) -> f64 {
        let places = (1..=DRAWS).map(|draw| f64::from(draw) / f64::from(DRAWS + 1));
        let rows = self.rows.iter().zip(places);
        let mut totals: Vec<f64> = rows.map(|(row, place)| of(row, place)).collect();
        quantile(&mut totals, End::High.place())
    }
}
