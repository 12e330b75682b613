//! The Universal Scalability Law through the trials (Gunther, *Guerrilla Capacity Planning*, 2007): X(N) = γN / (1 + α(N − 1) + βN(N − 1)).
//!
//! N, the exchanges under way, is Little's: the mean that the generator counted. N/X is linear in the three parameters, so they are fitted
//! by least squares of relative errors; bands are a bootstrap over trials. What the law says beyond the data is a guess, so it is only
//! given where the data curve towards a peak whichever trials are drawn.

use crate::record::{Band, Manner, Scalability, Trial, TrialOutcome, TrialPurpose};
use plimsoll_base::random::{Draw, Stream};

/// Fewer points than this do not hold three parameters.
const LEAST_POINTS: usize = 6;
/// Resampled fits.
const BOOTSTRAPS: u64 = 400;
/// A pivot of less than this, beside the largest entry, is what rounding leaves of none.
const SINGULAR: f64 = 1e-12;
/// Share of resampled fits beyond each end of a band.
const TAIL: f64 = 0.025;

/// The law, with a seed for its bootstrap.
///
/// # Errors
/// Why the data do not support it.
pub fn fit(trials: &[Trial], seed: u64) -> Result<Scalability, String> {
    let points = points(trials);
    let refused = |why: String| format!("the Universal Scalability Law is not fitted: {why}");
    if points.len() < LEAST_POINTS {
        return Err(refused(format!(
            "it takes {LEAST_POINTS} trials that were sustained with one exchange or more under way, and there are {}",
            points.len()
        )));
    }
    let whole =
        solve(&points).ok_or_else(|| refused("the trials are too much alike".to_owned()))?;
    let mut resampled: Vec<Parameters> = (0..BOOTSTRAPS)
        .filter_map(|number| solve(&resample(&points, seed, number)))
        .collect();
    if resampled.len() < LEAST_POINTS {
        return Err(refused("the trials are too much alike".to_owned()));
    }
    let mut band = |of: fn(&Parameters) -> f64| {
        resampled.sort_by(|a, b| of(a).total_cmp(&of(b)));
        let at = |share: f64| of(&resampled[place(share, resampled.len())]);
        Band {
            value: of(&whole),
            low: at(TAIL),
            high: at(1.0 - TAIL),
        }
    };
    let beta = band(|parameters| parameters.beta);
    if beta.low <= 0.0 {
        return Err(refused("whether there is a peak cannot be told".to_owned()));
    }
    let fitted = Scalability {
        gamma: band(|parameters| parameters.gamma),
        alpha: band(|parameters| parameters.alpha),
        beta,
        peak_per_s: band(Parameters::peak_throughput),
    };
    let bands = [
        &fitted.gamma,
        &fitted.alpha,
        &fitted.beta,
        &fitted.peak_per_s,
    ];
    let is_finite = |band: &Band| {
        [band.value, band.low, band.high]
            .iter()
            .all(|end| end.is_finite())
    };
    if bands.into_iter().all(is_finite) {
        Ok(fitted)
    } else {
        Err(refused("its parameters have no bounds".to_owned()))
    }
}

#[derive(Debug, Clone, Copy)]
struct Parameters {
    gamma: f64,
    alpha: f64,
    beta: f64,
}

impl Parameters {
    /// Where throughput is highest; `None` where it only grows.
    fn peak(&self) -> Option<f64> {
        (self.beta > 0.0).then(|| ((1.0 - self.alpha).max(0.0) / self.beta).sqrt())
    }

    fn throughput(&self, n: f64) -> f64 {
        self.gamma * n / (1.0 + self.alpha * (n - 1.0) + self.beta * n * (n - 1.0))
    }

    fn peak_throughput(&self) -> f64 {
        match self.peak() {
            Some(peak) => self.throughput(peak.max(1.0)),
            // Without coherency it grows towards γ/α.
            None => self.gamma / self.alpha.max(f64::MIN_POSITIVE),
        }
    }
}

/// Exchanges under way and throughput of trials that were evidence and in balance.
fn points(trials: &[Trial]) -> Vec<(f64, f64)> {
    let steady = trials.iter().filter(|trial| {
        trial.outcome != TrialOutcome::Void
            && trial.purpose != TrialPurpose::Overload
            && trial.bearing.manner == Manner::Sustains
    });
    steady
        .filter_map(|trial| Some((trial.in_flight_mean?, trial.good_per_s?)))
        .filter(|(n, x)| *n >= 1.0 && *x > 0.0)
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "places in a list of some hundreds"
)]
fn place(share: f64, length: usize) -> usize {
    ((share * length as f64) as usize).min(length - 1)
}

fn resample(points: &[(f64, f64)], seed: u64, number: u64) -> Vec<(f64, f64)> {
    let mut draw = Draw::new(seed, Stream::Resample, number);
    let length = u64::try_from(points.len()).expect("invariant: a count of trials");
    let chosen = (0..points.len()).map(|_| {
        let at = usize::try_from(draw.below(length)).expect("invariant: below a length");
        points[at]
    });
    chosen.collect()
}

/// Least squares of N/X = a + b(N − 1) + cN(N − 1), each row over its own left side. Negative contention or coherency is none.
fn solve(points: &[(f64, f64)]) -> Option<Parameters> {
    let rows = points.iter().map(|(n, x)| {
        let y = n / x;
        [1.0 / y, (n - 1.0) / y, n * (n - 1.0) / y]
    });
    let mut matrix = [[0.0; 4]; 3];
    for row in rows {
        for i in 0..3 {
            for j in 0..3 {
                matrix[i][j] += row[i] * row[j];
            }
            matrix[i][3] += row[i];
        }
    }
    let [a, b, c] = eliminate(matrix)?;
    (a > 0.0).then(|| Parameters {
        gamma: 1.0 / a,
        alpha: (b / a).max(0.0),
        beta: (c / a).max(0.0),
    })
}

/// Gauss with pivots; `None` for a matrix that is nearly singular.
fn eliminate(mut matrix: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    let largest = matrix
        .iter()
        .flatten()
        .fold(0.0, |most: f64, cell| most.max(cell.abs()));
    for column in 0..3 {
        let pivot = (column..3).max_by(|a, b| {
            matrix[*a][column]
                .abs()
                .total_cmp(&matrix[*b][column].abs())
        })?;
        matrix.swap(column, pivot);
        let head = matrix[column];
        if head[column].abs() <= SINGULAR * largest {
            return None;
        }
        for (_, row) in matrix
            .iter_mut()
            .enumerate()
            .filter(|(at, _)| *at != column)
        {
            let factor = row[column] / head[column];
            for (cell, above) in row.iter_mut().zip(head) {
                *cell -= factor * above;
            }
        }
    }
    let solved = |at: usize| matrix[at][3] / matrix[at][at];
    Some([solved(0), solved(1), solved(2)])
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: Parameters = Parameters {
        gamma: 100.0,
        alpha: 0.05,
        beta: 0.002,
    };

    #[test]
    fn the_law_is_found_in_what_it_made() {
        let points: Vec<(f64, f64)> = (1..=40)
            .map(|n| (f64::from(n), LAW.throughput(f64::from(n))))
            .collect();
        let found = solve(&points).unwrap();
        assert!((found.gamma - LAW.gamma).abs() < 1e-6);
        assert!((found.alpha - LAW.alpha).abs() < 1e-9);
        assert!((found.beta - LAW.beta).abs() < 1e-9);
        let peak = found.peak().unwrap();
        assert!((peak - (0.95_f64 / 0.002).sqrt()).abs() < 1e-6);
    }

    #[test]
    fn points_that_are_all_alike_hold_no_law() {
        assert!(solve(&[(2.0, 100.0); 9]).is_none());
    }

    #[test]
    fn too_few_trials_are_refused_in_words() {
        let said = fit(&[], 1).unwrap_err();
        assert!(
            said.starts_with("the Universal Scalability Law is not fitted"),
            "{said}"
        );
    }
}
