//! How far figures of outages bear a threshold: as percentiles do, by how many trials there are, and whether all outages were seen to their end.

use super::Percentile;
use crate::record::FaultOutages;

/// The evidence of a figure of outages that is a percentile, or stands for one; `None` of all others.
///
/// The longest bounds 95 % of all cases from 59 trials on, so it bears as much as the p95 does.
pub(super) fn percentile(fault: &FaultOutages, figure: &str) -> Option<Percentile> {
    let cut_short = fault.failed_failovers.count + u64::from(fault.ended_by_heal);
    let outage = &fault.outage;
    let (share, low, high) = match figure {
        "p50" => {
            let p50 = outage.p50?;
            (0.5, p50.low, p50.high)
        }
        "p95" => {
            let p95 = outage.p95?;
            (0.95, p95.low, p95.high)
        }
        "max" => (0.95, outage.max_low, outage.max),
        _ => return None,
    };
    Some(Percentile {
        share,
        count: fault.trials.into(),
        cut_short,
        is_at_least: cut_short > 0,
        low,
        high: high.filter(|_| cut_short == 0),
        without_answer: 0.0,
    })
}
