//! Where the curve of response times over rates bends: Kneedle (Satopää et al., "Finding a 'Kneedle' in a Haystack", ICDCS 2011).
//!
//! A drawing aid. Where a curve bends depends on how far its axes reach, so nothing is concluded from it (Gunther, "Mind your knees and
//! queues").

use crate::record::{Knee, Trial, TrialOutcome, TrialPurpose};

/// Fewer rates than this have no shape.
const LEAST_RATES: usize = 6;
/// A curve that lies less than this far (of 1) below its chord has no bend.
const LEAST_BEND: f64 = 0.2;

/// The knee of the limited figure, of several of the last, which tables and curves show too, or of the p99 without one, over the rates of trials that were evidence.
///
/// # Errors
/// Why there is none to be drawn.
pub fn knee(trials: &[Trial]) -> Result<Knee, String> {
    let points = points(trials);
    if points.len() < LEAST_RATES {
        return Err(format!(
            "no knee is drawn: it takes {LEAST_RATES} rates, and {} were tried",
            points.len()
        ));
    }
    let at = bend(&points).ok_or_else(|| {
        "no knee is drawn: response times do not bend over these rates".to_owned()
    })?;
    // A knee that hangs on one trial is none.
    let without: Option<Vec<f64>> = (0..points.len())
        .filter(|place| (points[*place].0 - at).abs() > 0.0)
        .map(|place| {
            let mut rest = points.clone();
            rest.remove(place);
            bend(&rest)
        })
        .collect();
    let without = without.ok_or_else(|| {
        "no knee is drawn: without one of the trials response times do not bend".to_owned()
    })?;
    Ok(Knee {
        rate_per_s: at,
        low_per_s: without.iter().copied().fold(at, f64::min),
        high_per_s: without.iter().copied().fold(at, f64::max),
    })
}

/// Rates with their times, ascending; of several trials of one rate the mean.
fn points(trials: &[Trial]) -> Vec<(f64, f64)> {
    let evidence = trials.iter().filter(|trial| {
        trial.outcome != TrialOutcome::Void && trial.purpose != TrialPurpose::Overload
    });
    let mut all: Vec<(f64, f64)> = evidence
        .filter_map(|trial| {
            let limited = trial.found.last().and_then(|found| found.value);
            Some((trial.rate_per_s, limited.or(trial.response_time.p99)?))
        })
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let rates = all.chunk_by(|a, b| b.0 - a.0 < 1e-6 * b.0);
    #[expect(clippy::cast_precision_loss, reason = "a few trials")]
    let mean = |same: &[(f64, f64)]| {
        let sum: f64 = same.iter().map(|point| point.1).sum();
        (same[0].0, sum / same.len() as f64)
    };
    rates.map(mean).collect()
}

/// The rate at which the curve lies furthest below its chord, both axes brought to 0 to 1.
fn bend(points: &[(f64, f64)]) -> Option<f64> {
    let (first, last) = (points.first()?, points.last()?);
    let times = || points.iter().map(|point| point.1);
    let (low, high) = (
        times().fold(f64::INFINITY, f64::min),
        times().fold(0.0, f64::max),
    );
    let (width, height) = (last.0 - first.0, high - low);
    if width <= 0.0 || height <= 0.0 {
        return None;
    }
    let below = |point: &(f64, f64)| (point.0 - first.0) / width - (point.1 - low) / height;
    let deepest = points.iter().max_by(|a, b| below(a).total_cmp(&below(b)))?;
    (below(deepest) >= LEAST_BEND).then_some(deepest.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Bearing, Found, Manner, Statistic, TimeStatistics};
    use indexmap::IndexMap;

    /// A good trial that found these figures, in this order.
    fn trial(rate_per_s: f64, figures: &[(Statistic, f64)]) -> Trial {
        let found = figures.iter().map(|(figure, value)| Found {
            figure: *figure,
            value: Some(*value),
            low: None,
            high: None,
            limit: 1.0,
        });
        Trial {
            trial: 1,
            purpose: TrialPurpose::Search,
            rate_per_s,
            planned_s: 10.0,
            seconds: 10.0,
            spent_s: 11.0,
            outcome: TrialOutcome::Good,
            reason: String::new(),
            bearing: Bearing {
                manner: Manner::Sustains,
                answered_per_s: rate_per_s,
                good_per_s: rate_per_s,
                backlog_growth_per_s: 0.0,
                lost_share: 0.0,
                burst: false,
                sentence: String::new(),
            },
            achieved_per_s: Some(rate_per_s),
            good_per_s: Some(rate_per_s),
            intended: 100,
            dropped: 0,
            failed: 0,
            failed_share: Some(0.0),
            in_flight_mean: Some(1.0),
            found: found.collect(),
            response_time: TimeStatistics::default(),
            components: IndexMap::new(),
        }
    }

    /// Trials at 10/s, 20/s and so on whose p50 is flat and whose p99 is `p99`.
    fn trials(p99: impl Fn(f64) -> f64) -> Vec<Trial> {
        let rates = (1..=20).map(|n| f64::from(n) * 10.0);
        rates
            .map(|rate| {
                trial(
                    rate,
                    &[(Statistic::P50, 0.001), (Statistic::P99, p99(rate))],
                )
            })
            .collect()
    }

    #[test]
    fn the_knee_is_that_of_the_last_limited_figure() {
        let found = knee(&trials(|rate| 1.0 / (210.0 - rate))).unwrap();
        assert!((150.0..=190.0).contains(&found.rate_per_s), "{found:?}");
        assert!(found.low_per_s <= found.rate_per_s && found.rate_per_s <= found.high_per_s);
    }

    #[test]
    fn a_curve_that_does_not_bend_and_a_bend_of_one_trial_are_refused_in_words() {
        assert_eq!(
            knee(&trials(|rate| rate / 1_000.0)).unwrap_err(),
            "no knee is drawn: response times do not bend over these rates"
        );
        // Flat until the last: without that trial there is nothing.
        let step = |rate: f64| if rate < 200.0 { 0.01 } else { 1.0 };
        assert_eq!(
            knee(&trials(step)).unwrap_err(),
            "no knee is drawn: without one of the trials response times do not bend"
        );
        let mut void = trials(|rate| 1.0 / (210.0 - rate));
        for trial in &mut void[5..] {
            trial.outcome = TrialOutcome::Void;
        }
        assert_eq!(
            knee(&void).unwrap_err(),
            "no knee is drawn: it takes 6 rates, and 5 were tried"
        );
    }

    fn curve(times: &[(f64, f64)]) -> Option<f64> {
        bend(times)
    }

    #[test]
    fn a_curve_that_rises_late_bends_where_it_rises() {
        let points: Vec<(f64, f64)> = (1..=20)
            .map(|n| {
                let rate = f64::from(n) * 10.0;
                (rate, 1.0 / (210.0 - rate))
            })
            .collect();
        let at = curve(&points).unwrap();
        assert!((150.0..=190.0).contains(&at), "{at}");
    }

    #[test]
    fn a_straight_line_does_not_bend() {
        let points: Vec<(f64, f64)> = (1..=20).map(|n| (f64::from(n), f64::from(n))).collect();
        assert_eq!(curve(&points), None);
        assert_eq!(curve(&[(1.0, 1.0); 8]), None);
    }

    #[test]
    fn too_few_rates_are_refused_in_words() {
        assert_eq!(
            knee(&[]).unwrap_err(),
            "no knee is drawn: it takes 6 rates, and 0 were tried"
        );
    }
}
