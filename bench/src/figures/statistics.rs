//! Statistics over rounds: the median of one side, the ratio of two sides with its interval.

use plimsoll_report::statistics::{CONFIDENCE, Interval, Pivot, Sample};

/// One side's readings of one quantity, by round, of those rounds in which it was to be measured; `None` where that failed.
pub type Rounds = Vec<Option<f64>>;

/// Ours over the peer's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The geometric mean of the rounds' ratios.
    pub value: f64,
    /// Student's t on the logarithm, over rounds; `None` for a single round.
    pub interval: Option<Interval>,
}

impl Ratio {
    /// The ratio of rounds that both sides have; `None` when there is none.
    pub fn of(ours: &Rounds, peer: &Rounds) -> Option<Self> {
        let logarithms = of_pairs(ours, peer, |ours, peer| (ours / peer).ln());
        let Mean { value, interval } = Mean::of(&logarithms)?;
        let interval = interval.map(|interval| Interval {
            low: interval.low.exp(),
            high: interval.high.exp(),
        });
        Some(Self {
            value: value.exp(),
            interval,
        })
    }
}

/// A mean over rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// Student's t over rounds; `None` for a single round.
    pub interval: Option<Interval>,
}

impl Mean {
    /// The mean of the rounds that have a figure; `None` when none has.
    pub fn of(rounds: &Rounds) -> Option<Self> {
        let values: Vec<f64> = rounds.iter().copied().flatten().collect();
        match Sample::of(&values) {
            Some(sample) => Some(Self {
                value: sample.mean,
                interval: Some(Pivot::Student(sample.size).interval(&sample, CONFIDENCE)),
            }),
            None => values.first().map(|value| Self {
                value: *value,
                interval: None,
            }),
        }
    }
}

/// How many times more a side has with much of something than with little, by round.
pub fn growth(much: &Rounds, little: &Rounds) -> Rounds {
    of_pairs(much, little, |much, little| much / little)
}

/// The difference of a side to the side without something, by round.
pub fn differences(with: &Rounds, without: &Rounds) -> Rounds {
    of_pairs(with, without, |with, without| with - without)
}

/// A function of the two figures of each round; `None` where one is missing, or that is no number.
fn of_pairs(ours: &Rounds, peer: &Rounds, of: impl Fn(f64, f64) -> f64) -> Rounds {
    let pairs = ours.iter().zip(peer);
    let figures = pairs.map(|(ours, peer)| Some(of((*ours)?, (*peer)?)));
    figures
        .map(|figure| figure.filter(|figure| figure.is_finite()))
        .collect()
}

/// Whether both sides have figures in two thirds of the rounds in which both were to be measured.
pub fn rests_on_most(sides: [&Rounds; 2]) -> bool {
    let [one, other] = sides;
    let planned = one.len().min(other.len());
    in_both(sides) * 3 >= planned * 2
}

/// In how many rounds both sides have a figure.
pub fn in_both([one, other]: [&Rounds; 2]) -> usize {
    let pairs = one.iter().zip(other);
    pairs.filter(|(a, b)| a.is_some() && b.is_some()).count()
}

/// The median; between two it is their mean. `None` for nothing.
pub fn median(rounds: &Rounds) -> Option<f64> {
    let mut values: Vec<f64> = rounds.iter().copied().flatten().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        length if length % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_over_the_rounds_of_both() {
        let ours = vec![Some(2.0), None, Some(8.0), Some(4.0)];
        let peer = vec![Some(1.0), Some(5.0), Some(2.0), None];
        let ratio = Ratio::of(&ours, &peer).unwrap();
        assert!((ratio.value - 8f64.sqrt()).abs() < 1e-12);
        // Mean of ln 2 and ln 4, t(1 degree) = 12.706, standard error ln 2 / 2.
        let half = 12.706 * 2f64.ln() / 2.0;
        let interval = ratio.interval.unwrap();
        assert!((interval.high.ln() - ratio.value.ln() - half).abs() < 1e-3);
        assert_eq!(Ratio::of(&vec![None], &vec![Some(1.0)]), None);
        assert_eq!(
            Ratio::of(&vec![Some(3.0)], &vec![Some(1.5)])
                .unwrap()
                .interval,
            None
        );
    }

    #[test]
    fn a_difference_is_by_round_and_its_mean_has_an_interval() {
        let ours = vec![Some(9.5), None, Some(9.7)];
        let without = vec![Some(9.0), Some(9.0), Some(9.0)];
        let added = differences(&ours, &without);
        assert_eq!(added[1], None);
        let mean = Mean::of(&added).unwrap();
        assert!((mean.value - 0.6).abs() < 1e-12);
        let interval = mean.interval.unwrap();
        assert!((interval.high - 0.6 - 12.706 * 0.1).abs() < 1e-3);
        assert!((interval.low - 0.6 + 12.706 * 0.1).abs() < 1e-3);
        assert_eq!(Mean::of(&vec![Some(2.0)]).unwrap().interval, None);
        assert_eq!(Mean::of(&vec![None]), None);
    }

    #[test]
    fn growth_is_by_round() {
        let much = vec![Some(3.0), None, Some(1.0)];
        let little = vec![Some(2.0), Some(2.0), Some(0.0)];
        assert_eq!(growth(&much, &little), [Some(1.5), None, None]);
    }

    #[test]
    fn medians() {
        assert_eq!(
            median(&vec![Some(3.0), None, Some(1.0), Some(2.0)]),
            Some(2.0)
        );
        assert_eq!(median(&vec![Some(1.0), Some(2.0)]), Some(1.5));
        assert_eq!(median(&Vec::new()), None);
    }
}
