//! Campaigns of faults whose outages and chance to fail are known: how often figures over trials hold the truth.

use super::figures::{Impact, Length, outage_figures};
use super::year::{FaultInputs, expected};
use crate::record::{Estimated, FaultRate};
use plimsoll_base::random::{Draw, Stream};

/// Faults of a campaign, of one server each and once a year.
const FAULTS: usize = 3;
/// An outage is a time that is always needed and one by chance, exponential, this on average.
const ALWAYS_S: f64 = 0.5;
const BY_CHANCE_S: f64 = 2.0;

/// Truth behind campaigns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Campaign {
    /// The chance that a failover fails.
    pub failed: f64,
    /// Trials of each fault.
    pub trials: u32,
    /// How long a repair takes.
    pub repair_s: f64,
}

/// Shares of campaigns whose figures held the truth.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Coverage {
    /// The upper end of the expected seconds of a year was at least as much.
    pub upper: f64,
    /// The interval of the mean held it, where there was one.
    pub mean: f64,
    /// The interval of the median held it, where there was one.
    pub median: f64,
}

/// Runs campaigns `from` up to `to`; each is a function of its number and the seed.
#[must_use]
pub fn coverage(campaign: Campaign, (from, to): (u64, u64), seed: u64) -> Coverage {
    let mut held = [Share::default(); 3];
    for number in from..to {
        let faults = faults(campaign, number, seed);
        let truth = f64::from(u32::try_from(FAULTS).unwrap_or(u32::MAX))
            * ((1.0 - campaign.failed) * (ALWAYS_S + BY_CHANCE_S)
                + campaign.failed * campaign.repair_s);
        let upper = expected(&faults, campaign.repair_s, number).total.high;
        held[0].count(upper >= truth);
        let figures = outage_figures(&lengths(&faults[0].lost_s), seed, number);
        held[1].count_in(figures.mean, ALWAYS_S + BY_CHANCE_S);
        held[2].count_in(figures.p50, ALWAYS_S + BY_CHANCE_S * std::f64::consts::LN_2);
    }
    let [upper, mean, median] = held.map(|share| share.part / share.whole);
    Coverage {
        upper,
        mean,
        median,
    }
}

fn lengths(seconds: &[f64]) -> Vec<Length> {
    let each = seconds.iter().map(|seconds| Length {
        low: *seconds,
        estimate: *seconds,
        high: *seconds,
        is_cut_short: false,
    });
    each.collect()
}

fn faults(campaign: Campaign, number: u64, seed: u64) -> Vec<FaultInputs> {
    let mut draw = Draw::new(seed, Stream::Data, number);
    let one = |_| {
        let mut lost_s = Vec::new();
        let mut failed = 0;
        for _ in 0..campaign.trials {
            let seconds = ALWAYS_S + BY_CHANCE_S * draw.exponential();
            if draw.unit() < campaign.failed {
                failed += 1;
            } else {
                lost_s.push(seconds);
            }
        }
        FaultInputs {
            name: String::new(),
            servers: 1.0,
            per_year: FaultRate::Declared(1.0),
            lost_s,
            failed,
            ended_by_heal: 0,
            impact: Impact::WHOLE,
            median_s: 0.0,
        }
    };
    (0..FAULTS).map(one).collect()
}

#[derive(Debug, Clone, Copy, Default)]
struct Share {
    part: f64,
    whole: f64,
}

impl Share {
    fn count(&mut self, held: bool) {
        self.whole += 1.0;
        self.part += f64::from(u8::from(held));
    }

    fn count_in(&mut self, interval: Option<Estimated>, truth: f64) {
        if let Some((low, high)) = interval.and_then(|found| found.low.zip(found.high)) {
            self.count(low <= truth && truth <= high);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARES: [f64; 4] = [0.0, 0.005, 0.02, 0.1];

    fn campaigns(trials: u32, number: u64) -> Vec<(Campaign, Coverage)> {
        let each = SHARES.into_iter().zip(1..);
        each.map(|(failed, seed)| {
            let campaign = Campaign {
                failed,
                trials,
                repair_s: 1_800.0,
            };
            (campaign, coverage(campaign, (0, number), seed))
        })
        .collect()
    }

    /// The short form of the table: few campaigns of each, held to what so few can show.
    #[test]
    fn intervals_hold_the_truth() {
        for trials in [10, 20, 59] {
            let found = campaigns(trials, 12);
            let mean =
                |of: fn(&Coverage) -> f64| found.iter().map(|(_, one)| of(one)).sum::<f64>() / 4.0;
            let (upper, means, medians) = (
                mean(|one| one.upper),
                mean(|one| one.mean),
                mean(|one| one.median),
            );
            assert!(upper >= 0.94, "{found:?}");
            assert!(means >= 0.85 && medians >= 0.87, "{found:?}");
        }
    }

    #[test]
    #[ignore = "takes minutes: cargo test -p plimsoll-report at_length -- --ignored"]
    fn table_at_length() {
        for trials in [10, 20, 59] {
            for (campaign, found) in campaigns(trials, 1_000) {
                println!("{campaign:?} {found:?}");
                assert!(found.upper >= 0.94 && found.mean >= 0.92 && found.median >= 0.94);
            }
        }
    }
}
