//! Where a series of results changed: E-divisive (Matteson and James, "A Nonparametric Approach for Multiple Change Point Analysis of
//! Multivariate Data", Journal of the American Statistical Association 109, 2014).
//!
//! A stretch is split where the energy distance between its two parts (Székely and Rizzo), weighted by their sizes, is largest. The split
//! counts if that is more than what shuffled series show, at a level of significance; then each part is searched again. No
//! distribution is assumed, and a single outlier is no change.

use plimsoll_base::random::{Draw, Stream};

/// Neither part may have fewer results.
const FEWEST: usize = 3;
/// Shuffled series that a split is held against.
const SHUFFLES: u32 = 199;
/// More of them than this share beat the split by chance.
const SIGNIFICANCE: f64 = 0.05;
/// More results than this are not searched: the work grows with their square.
pub const MOST_RESULTS: usize = 500;

/// A change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// The place of the first result after it.
    pub at: usize,
    /// Mean of the results between the change before and this one.
    pub before: f64,
    /// Mean of the results from this one to the next.
    pub after: f64,
    /// The share of shuffled series with a larger split: smaller is surer.
    pub p: f64,
}

/// The changes in a series, in its order. The same `seed` shuffles alike.
#[must_use]
pub fn change_points(values: &[f64], seed: u64) -> Vec<ChangePoint> {
    let first = values.len().saturating_sub(MOST_RESULTS);
    let mut found: Vec<(usize, f64)> = Vec::new();
    let mut open = vec![(first, values.len())];
    let mut round = 0;
    while let Some((from, to)) = open.pop() {
        let Some((at, statistic)) = best_split(&values[from..to]) else {
            continue;
        };
        let p = chance(&values[from..to], statistic, seed, &mut round);
        if p <= SIGNIFICANCE {
            found.push((from + at, p));
            open.extend([(from, from + at), (from + at, to)]);
        }
    }
    found.sort_by_key(|(at, _)| *at);
    let ends: Vec<usize> = std::iter::once(first)
        .chain(found.iter().map(|(at, _)| *at))
        .chain([values.len()])
        .collect();
    let mean = |from: usize, to: usize| -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a number of results")]
        let count = (to - from).max(1) as f64;
        values[from..to].iter().sum::<f64>() / count
    };
    let changes = found.iter().enumerate();
    changes
        .map(|(place, (at, p))| ChangePoint {
            at: *at,
            before: mean(ends[place], *at),
            after: mean(*at, ends[place + 2]),
            p: *p,
        })
        .collect()
}

/// How often a shuffled series has a split that is at least as large; the series itself counts as one.
fn chance(values: &[f64], statistic: f64, seed: u64, round: &mut u64) -> f64 {
    let mut shuffled = values.to_vec();
    let mut larger = 1;
    for _ in 0..SHUFFLES {
        *round += 1;
        Draw::new(seed, Stream::Resample, *round).shuffle(&mut shuffled);
        let best = best_split(&shuffled).map_or(0.0, |(_, statistic)| statistic);
        larger += u32::from(best >= statistic);
    }
    f64::from(larger) / f64::from(SHUFFLES + 1)
}

/// The place of the best split and its weighted energy distance; `None` where there are too few results, or all are the same.
#[expect(clippy::cast_precision_loss, reason = "a number of results")]
fn best_split(values: &[f64]) -> Option<(usize, f64)> {
    let n = values.len();
    if n < 2 * FEWEST {
        return None;
    }
    // Sums of distances within the first part, between the parts and within the second, moved along one by one.
    let distance = |i: usize, j: usize| (values[i] - values[j]).abs();
    let to_all: Vec<f64> = (0..n)
        .map(|i| (0..n).map(|j| distance(i, j)).sum())
        .collect();
    let (mut left, mut between, mut right) = (0.0, 0.0, to_all.iter().sum::<f64>() / 2.0);
    let mut best: Option<(usize, f64)> = None;
    for at in 1..n {
        // The result at `at` − 1 goes from the second part to the first.
        let to_left: f64 = (0..at - 1).map(|j| distance(at - 1, j)).sum();
        let to_right = to_all[at - 1] - to_left;
        left += to_left;
        between += to_right - to_left;
        right -= to_right;
        if at < FEWEST || n - at < FEWEST {
            continue;
        }
        let (a, b) = (at as f64, (n - at) as f64);
        let energy =
            2.0 * between / (a * b) - left / (a * (a - 1.0) / 2.0) - right / (b * (b - 1.0) / 2.0);
        let statistic = a * b / (a + b) * energy;
        if statistic > best.map_or(0.0, |(_, most)| most) {
            best = Some((at, statistic));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Normal noise around levels, so many results each.
    fn series(levels: &[(f64, usize)], index: u64) -> Vec<f64> {
        let mut draw = Draw::new(3, Stream::Data, index);
        let results = levels
            .iter()
            .flat_map(|(level, count)| vec![*level; *count]);
        results.map(|level| level + 0.05 * draw.normal()).collect()
    }

    fn places(values: &[f64]) -> Vec<usize> {
        change_points(values, 1)
            .iter()
            .map(|change| change.at)
            .collect()
    }

    #[test]
    fn steps_are_found_where_they_are() {
        assert_eq!(places(&series(&[(1.0, 12), (1.3, 10)], 1)), [12]);
        let found = places(&series(&[(1.0, 10), (1.5, 10), (0.8, 10)], 2));
        assert_eq!(found, [10, 20]);
        let change = change_points(&series(&[(1.0, 12), (2.0, 10)], 3), 1)[0];
        assert!((change.before - 1.0).abs() < 0.05 && (change.after - 2.0).abs() < 0.05);
        assert!(change.p <= 0.05);
    }

    #[test]
    fn an_outlier_is_no_change() {
        let mut values = series(&[(1.0, 24)], 4);
        values[11] = 3.0;
        assert_eq!(places(&values), Vec::<usize>::new());
    }

    /// Of 60 series without a change at most 7 are said to have one: 5 %, and two standard errors.
    #[test]
    fn nothing_is_rarely_called_a_change() {
        let called = (0..60)
            .filter(|index| !places(&series(&[(1.0, 16)], 100 + index)).is_empty())
            .count();
        assert!(called <= 7, "{called}");
    }

    #[test]
    fn too_few_or_equal_results_have_none() {
        assert_eq!(places(&[1.0, 2.0, 3.0, 9.0, 9.0]), Vec::<usize>::new());
        assert_eq!(places(&[1.0; 20]), Vec::<usize>::new());
        assert_eq!(places(&[]), Vec::<usize>::new());
    }
}
