//! Criterion 13: enough blocks of a comparison are valid for a figure. A block in which a criterion reaches a figure of either arm is
//! left out of that figure's difference; when more than a third go, or fewer than three stay, what remains is a selection rather than
//! a sample.

use super::reach;
use super::row::Finding;
use crate::record::{Effect, Sense, Statistic, ValidityRow};

const FEWEST: usize = 3;

/// Blocks of one arm and the baseline for one figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Used {
    /// The figure.
    pub statistic: Statistic,
    /// Blocks that held both arms.
    pub planned: usize,
    /// Of these, those in which the figure stands in both.
    pub used: usize,
}

impl Used {
    /// Whether what was left out leaves a sample.
    #[must_use]
    pub fn is_enough(&self) -> bool {
        self.used >= self.least()
    }

    /// Two thirds, and no fewer than three; but where nothing had to be left out, what was planned.
    fn least(&self) -> usize {
        (2 * self.planned)
            .div_ceil(3)
            .max(FEWEST)
            .min(self.planned.max(1))
    }
}

/// Judges one arm's figures: one row for those with enough blocks and one for the others; none when nothing was left out.
#[must_use]
pub fn judge(arm: &str, figures: &[Used]) -> Vec<ValidityRow> {
    let incomplete = || figures.iter().filter(|figure| figure.used < figure.planned);
    let (enough, scarce): (Vec<&Used>, Vec<&Used>) =
        incomplete().partition(|figure| figure.is_enough());
    [(scarce, Effect::Invalid), (enough, Effect::None)]
        .into_iter()
        .filter_map(|(figures, effect)| row(arm, &figures, effect))
        .collect()
}

fn row(arm: &str, figures: &[&Used], effect: Effect) -> Option<ValidityRow> {
    let fewest = figures.iter().min_by_key(|figure| figure.used)?;
    let labels: Vec<&str> = figures.iter().map(|f| f.statistic.label()).collect();
    let most = figures.iter().map(|figure| figure.used).max().unwrap_or(0);
    let used = if most == fewest.used {
        fewest.used.to_string()
    } else {
        format!("{} to {most}", fewest.used)
    };
    let left_out = format!(
        "The differences of {} use {used} of {} blocks. In the blocks left out, the generator's own delays affect the figure",
        labels.join(", "),
        fewest.planned
    );
    #[expect(clippy::cast_precision_loss, reason = "numbers of blocks are small")]
    let (value, limit) = (fewest.used as f64, fewest.least() as f64);
    let finding = Finding {
        criterion: 13,
        name: "blocks used",
        value,
        limit,
        unit: "count",
        sense: Sense::AtLeast,
        good: format!("{left_out}."),
        bad: format!(
            "{left_out}. Use longer blocks, so that a stall is a smaller share of each, or more blocks, so that enough remain."
        ),
    };
    let affected: Vec<String> = figures
        .iter()
        .map(|figure| format!("added.{}", figure.statistic.name()))
        .collect();
    let reached = || reach::paths(affected.iter().map(String::as_str), effect);
    finding.rows(arm, reached).pop()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_may_go_and_three_must_stay() {
        let check = |used, planned, expected: Option<Effect>| {
            let statistic = Statistic::P99;
            let rows = judge(
                "a",
                &[Used {
                    statistic,
                    planned,
                    used,
                }],
            );
            assert_eq!(rows.first().map(|row| row.effect), expected, "{rows:?}");
            assert!(
                rows.iter()
                    .all(|row| row.ok == (row.effect == Effect::None))
            );
        };
        check(6, 6, None);
        check(2, 2, None);
        check(4, 6, Some(Effect::None));
        check(3, 6, Some(Effect::Invalid));
        check(2, 3, Some(Effect::Invalid));
        check(1, 2, Some(Effect::Invalid));
        check(3, 4, Some(Effect::None));
        check(0, 6, Some(Effect::Invalid));
    }

    #[test]
    fn figures_are_told_apart() {
        let of = |statistic, used| Used {
            statistic,
            planned: 6,
            used,
        };
        let rows = judge(
            "a",
            &[
                of(Statistic::P50, 6),
                of(Statistic::P90, 5),
                of(Statistic::P99, 1),
            ],
        );
        let affects: Vec<&[String]> = rows.iter().map(|row| row.affects.as_slice()).collect();
        assert_eq!(affects, [&["added.p99".to_owned()][..], &[]]);
    }
}
