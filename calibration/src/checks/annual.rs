//! Campaigns of faults in virtual time, whose outages and chance to fail are known: how often the figures of a year hold the truth.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error};
use crate::interrupt;
use plimsoll_report::availability::simulated::{Campaign, Coverage, coverage};
use std::sync::{Mutex, PoisonError};

pub const CHECK: Check = Check {
    name: "annual",
    about: "years of faults in virtual time: how often intervals hold the truth",
    run,
};

/// The chance that a failover fails.
const FAILED: [f64; 4] = [0.0, 0.005, 0.02, 0.1];
/// Trials of each fault.
const TRIALS: [u32; 3] = [10, 20, 59];
/// How long a repair takes.
const REPAIR_S: f64 = 1_800.0;

/// Shares that must hold: of upper ends, and of intervals of means and of medians.
const LIMITS: Coverage = Coverage {
    upper: 0.94,
    mean: 0.92,
    median: 0.94,
};

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let number = bench.pick(1_000, 20);
    let campaigns: Vec<Campaign> = (TRIALS.iter())
        .flat_map(|trials| FAILED.iter().map(|failed| campaign(*failed, *trials)))
        .collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = Mutex::new(campaigns.iter().enumerate());
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
                while let Some((place, campaign)) = take() {
                    if interrupt::requested() {
                        break;
                    }
                    let seed = u64::try_from(place).unwrap_or_default();
                    let coverage = coverage(*campaign, (0, number), seed);
                    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                    found.push((place, bar(*campaign, number, coverage)));
                }
            });
        }
    });
    interrupt::check()?;
    let mut bars = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    bars.sort_by_key(|(place, _)| *place);
    Ok(bars.into_iter().map(|(_, bar)| bar).collect())
}

fn campaign(failed: f64, trials: u32) -> Campaign {
    Campaign {
        failed,
        trials,
        repair_s: REPAIR_S,
    }
}

fn bar(campaign: Campaign, number: u64, found: Coverage) -> Bar {
    let held =
        found.upper >= LIMITS.upper && found.mean >= LIMITS.mean && found.median >= LIMITS.median;
    let words = |coverage: Coverage| {
        let [upper, mean, median] =
            [coverage.upper, coverage.mean, coverage.median].map(|share| share * 100.0);
        format!("upper end {upper:.1} %, means {mean:.1} %, medians {median:.1} %")
    };
    Bar::judged(
        format!(
            "{number} campaigns of {} trials, of which {} % fail",
            campaign.trials,
            campaign.failed * 100.0
        ),
        format!("hold the truth in at least: {}", words(LIMITS)),
        words(found),
        held,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar::Verdict;

    #[test]
    fn each_figure_has_its_limit() {
        let check = |upper, mean, median, expected| {
            let found = Coverage {
                upper,
                mean,
                median,
            };
            let bar = bar(campaign(0.0, 10), 1_000, found);
            assert_eq!(bar.verdict, expected, "{}", bar.measured);
        };
        check(0.95, 0.93, 0.95, Verdict::Held);
        check(0.93, 0.93, 0.95, Verdict::Failed);
        check(0.95, 0.91, 0.95, Verdict::Failed);
        check(0.95, 0.93, 0.93, Verdict::Failed);
    }
}
