//! Bursts of failures as outages: which of them are one, and what a trial lost by all of them.
//!
//! Where a fault hits a few callers, their failures may come farther apart than `gap`, and one long outage looks like many short ones. Of `n`
//! moments at random within a time, the chance that some two neighbours lie more than a share `x` of it apart is at most `(n − 1)(1 − x)^(n − 2)`,
//! the first moment and the last being its ends (David and Nagaraja, *Order Statistics*, 2003, §6.4). Bursts that chance allows to be of one
//! outage by that are taken for one, and their own lengths are its lower end.

use super::answers::Answer;
use super::bursts::Burst;
use crate::record::{AvailabilitySettings, TrialOutage};

/// Fewer failures show no length: two may be all that a long outage of a few callers was seen by.
const FEWEST: usize = 3;
/// Of fewer failures nobody can tell whether chance tore them apart: only a gap of nearly all their time would be too wide for it.
const FEWEST_TORN: usize = 5;
/// Bursts are of one outage unless so small a chance alone would have it so.
const UNLIKELY: f64 = 0.005;

/// An outage: one burst, or several that chance may have torn apart.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outage<'a> {
    bursts: Vec<&'a Burst>,
    whole: Burst,
}

/// The outages that these bursts, in their order, are of.
pub(super) fn outages<'a>(bursts: &[&'a Burst], answers: &[Answer]) -> Vec<Outage<'a>> {
    let gap = |pair: &[&Burst]| answers[pair[1].first()].at - answers[pair[0].last()].at;
    let gaps = bursts.windows(2).map(gap).enumerate();
    let widest = gaps.max_by(|(_, one), (_, other)| one.total_cmp(other));
    match (bursts, widest) {
        ([], _) => Vec::new(),
        (_, Some((place, gap))) if !is_likely(bursts, gap, answers) => {
            let (before, after) = bursts.split_at(place + 1);
            [outages(before, answers), outages(after, answers)].concat()
        }
        _ => {
            let failures = bursts.iter().flat_map(|burst| &burst.failures);
            vec![Outage {
                whole: Burst {
                    failures: failures.copied().collect(),
                },
                bursts: bursts.to_vec(),
            }]
        }
    }
}

/// Whether failures at random over the time of all these bursts, enough of them to tell, may leave such a gap.
fn is_likely(bursts: &[&Burst], gap: f64, answers: &[Answer]) -> bool {
    let failures: usize = bursts.iter().map(|burst| burst.failures.len()).sum();
    if failures < FEWEST_TORN {
        return false;
    }
    let first = answers[bursts[0].first()].at;
    let range = answers[bursts[bursts.len() - 1].last()].at - first;
    #[expect(clippy::cast_precision_loss, reason = "a number of failures")]
    let failures = failures as f64;
    (failures - 1.0) * (1.0 - gap / range).powf(failures - 2.0) >= UNLIKELY
}

impl Outage<'_> {
    /// When its first failure was intended.
    pub(super) fn began(&self, answers: &[Answer]) -> f64 {
        answers[self.whole.first()].at
    }

    /// All its failures as one burst.
    pub(super) fn whole(&self) -> &Burst {
        &self.whole
    }
}

/// Moments of a trial that bound what was seen of outages, in seconds of its load.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// The injection, from which moments are counted.
    pub(super) injected: f64,
    /// The beginning of what brought these outages.
    pub(super) since: f64,
    /// The end of arrivals.
    pub(super) ended: f64,
}

/// Outages as one of a trial: lengths and losses add up.
pub(super) fn sum(
    settings: &AvailabilitySettings,
    outages: &[Outage<'_>],
    answers: &[Answer],
    seen: Seen,
) -> TrialOutage {
    let mut sum = TrialOutage::default();
    let (mut failed, mut bursts) = (0, 0);
    for outage in outages {
        let (_, length) = outage.whole.length(answers, seen.ended);
        let lows = outage.bursts.iter();
        sum.low_s += lows
            .map(|burst| burst.length(answers, seen.ended).0)
            .sum::<f64>();
        sum.estimate_s += length.estimate;
        sum.high_s += length.high;
        failed += outage.whole.failures.len();
        bursts += outage.bursts.len();
        sum.is_torn |= outage.bursts.len() > 1;
        sum.first_s = (sum.first_s).or(Some(outage.began(answers) - seen.injected));
        sum.last_s = Some(answers[outage.whole.last()].at - seen.injected);
    }
    // What failures alone bound may be longer than anybody looked.
    if let Some(first) = outages.first()
        && outages.iter().any(|outage| outage.whole.is_partial())
    {
        let most = seen.ended - seen.since.min(first.began(answers));
        sum.estimate_s = sum.estimate_s.min(most);
        sum.high_s = sum.high_s.min(most);
    }
    let fewest = if bursts > 1 { FEWEST_TORN } else { FEWEST };
    sum.is_unmeasured = (1..fewest).contains(&failed);
    sum.bursts = u32::try_from(bursts).unwrap_or(u32::MAX);
    sum.failed = failed as u64;
    #[expect(clippy::cast_precision_loss, reason = "a count of exchanges")]
    let lost = failed as f64;
    sum.lost_s = lost / settings.rate_per_s;
    sum.impact = (sum.estimate_s > 0.0).then(|| (sum.lost_s / sum.estimate_s).min(1.0));
    sum
}
