//! `{"type": "lognormal", "median": ms, "sigma": s, "maxValue": ms}`: median · e^(σ·Z) for a standard normal Z.
//!
//! WireMock's rule for `maxValue`: draw again up to ten times, then take the limit itself.

use super::DelayPrecision;
use crate::reader::problem::StubProblem;
use crate::reader::{Object, Problems};
use plimsoll_base::random::Draw;

/// How often a value above the limit is drawn again.
const REDRAWS: usize = 10;

/// A log-normal delay; all in milliseconds, `sigma` without unit.
#[derive(Debug, Clone)]
pub struct LogNormal {
    median: f64,
    sigma: f64,
    limit: Option<f64>,
}

impl LogNormal {
    pub fn read(object: &mut Object<'_>, problems: &mut Problems) -> Option<Self> {
        let mut required = |name: &'static str, problems: &mut Problems| {
            let Some(node) = object.get(name) else {
                let message = format!("\"{name}\" is missing");
                problems.push(StubProblem::invalid(&object.pointer, message));
                return None;
            };
            let value = node.number(problems)?;
            if value < 0.0 {
                return node.wrong("0 or more", problems);
            }
            Some(value)
        };
        let (median, sigma) = (required("median", problems), required("sigma", problems));
        let limit_node = object.get("maxValue");
        let limit = limit_node.as_ref().and_then(|node| node.number(problems));
        let (median, sigma) = (median?, sigma?);
        if let (Some(node), Some(limit)) = (limit_node, limit)
            && limit < median
        {
            return node.wrong("at least the median", problems);
        }
        Some(Self {
            median,
            sigma,
            limit,
        })
    }

    /// One delay in milliseconds; infinite where the tail overflows.
    pub fn sample(&self, precision: DelayPrecision, draw: &mut Draw) -> f64 {
        let mut once = || {
            let value = (draw.normal() * self.sigma).exp() * self.median;
            match precision {
                DelayPrecision::WholeMilliseconds => value.round(),
                DelayPrecision::Exact => value,
            }
        };
        let Some(limit) = self.limit else {
            return once();
        };
        (0..REDRAWS)
            .map(|_| once())
            .find(|value| *value <= limit)
            .unwrap_or(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::random::Stream;

    const SAMPLES: usize = 40_000;

    fn sorted(lognormal: &LogNormal, precision: DelayPrecision) -> Vec<f64> {
        let mut values: Vec<f64> = (0..SAMPLES as u64)
            .map(|index| lognormal.sample(precision, &mut Draw::new(11, Stream::Delays, index)))
            .collect();
        values.sort_by(f64::total_cmp);
        values
    }

    /// Each sample quantile lies within five standard errors of median · e^(σ·z): in ln units the error of the
    /// p-quantile is σ·√(p(1−p)/n) / φ(z).
    #[test]
    fn quantiles_are_those_of_the_distribution() {
        let lognormal = LogNormal {
            median: 80.0,
            sigma: 0.4,
            limit: None,
        };
        let values = sorted(&lognormal, DelayPrecision::Exact);
        for (p, z) in [
            (0.01, -2.326_348),
            (0.1, -1.281_552),
            (0.5, 0.0),
            (0.9, 1.281_552),
            (0.99, 2.326_348),
            (0.999, 3.090_232),
        ] {
            let density = (-0.5_f64 * z * z).exp() / std::f64::consts::TAU.sqrt();
            let error = lognormal.sigma * (p * (1.0 - p) / SAMPLES as f64).sqrt() / density;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "an index below the sample count"
            )]
            let actual = (values[(p * SAMPLES as f64) as usize] / lognormal.median).ln();
            assert!(
                (actual - lognormal.sigma * z).abs() < 5.0 * error,
                "p{p}: {actual} is not within 5 × {error} of {}",
                lognormal.sigma * z
            );
        }
    }

    #[test]
    fn whole_milliseconds_and_the_limit() {
        let lognormal = LogNormal {
            median: 10.0,
            sigma: 1.5,
            limit: Some(12.0),
        };
        let values = sorted(&lognormal, DelayPrecision::WholeMilliseconds);
        assert!(
            values
                .iter()
                .all(|value| value.fract() == 0.0 && *value <= 12.0)
        );
        assert!(
            values.iter().filter(|value| **value == 12.0).count() < SAMPLES / 20,
            "values above the limit are drawn again, not piled onto it"
        );
    }
}
