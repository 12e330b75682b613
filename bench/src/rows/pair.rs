//! The row of two sides by one quantity or by its growth, or of why there is none.

use crate::figures::rounds::Side;
use crate::figures::row::{Bar, Limit, Quantity, Row};
use crate::figures::statistics;

/// Ours beside the other, each by its name in the table, by a figure of their readings.
pub fn row<R, V: Into<Option<f64>>>(
    work: &str,
    quantity: Quantity,
    sides: [(&str, &Side<R>); 2],
    figure: impl Fn(&R) -> V + Copy,
    bar: Option<Bar>,
) -> Row {
    let absent = |(name, side): (_, &Side<R>)| Some((name, side.absent()?));
    if let Some((name, reason)) = sides.into_iter().find_map(absent) {
        return Row::absent(work, quantity, (name, &reason), bar.map(Limit::Ratio));
    }
    let [(_, ours), (name, peer)] = sides;
    let theirs = peer.rounds(figure);
    Row::beside(work, quantity, &ours.rounds(figure), (name, &theirs), bar)
}

/// How many times more processor time it is with much of something than with little: ours beside the other's growth, each by its name in the
/// table and with much of it first.
pub fn growth<R, V: Into<Option<f64>>>(
    work: &str,
    sides: [(&str, [&Side<R>; 2]); 2],
    cost: impl Fn(&R) -> V + Copy,
    bar: Option<Bar>,
) -> Row {
    for (name, pair) in sides {
        if let Some(reason) = pair.into_iter().find_map(Side::absent) {
            let limit = bar.map(Limit::Ratio);
            return Row::absent(work, Quantity::Growth, (name, &reason), limit);
        }
    }
    let [ours, theirs] = sides
        .map(|(_, [much, little])| statistics::growth(&much.rounds(cost), &little.rounds(cost)));
    let theirs = (sides[1].0, &theirs);
    Row::beside(work, Quantity::Growth, &ours, theirs, bar)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    fn side(readings: [Option<f64>; 2]) -> Side<f64> {
        let mut side = Side::of("a side".to_owned());
        side.readings = readings.to_vec();
        let missing = || Error::Missing("not installed".to_owned());
        side.error = side.readings.contains(&None).then(missing);
        side
    }

    #[test]
    fn growth_is_of_both_sides_or_of_none() {
        let grown = |[much, little]: [&Side<f64>; 2], [more, less]: [&Side<f64>; 2]| {
            let sides = [("ours", [much, little]), ("peer", [more, less])];
            growth("w", sides, |us| *us, Some(Bar::at_most(1.0))).markdown()
        };
        let of = |us: f64| side([Some(us), Some(us)]);
        let absent = side([None, None]);
        let row = grown([&of(3.0), &of(2.0)], [&of(4.0), &of(2.0)]);
        assert!(row.contains("| 1.500 × | peer: 2.000 × | 0.750"), "{row}");
        let row = grown([&of(3.0), &of(2.0)], [&of(4.0), &absent]);
        assert_eq!(
            row,
            "| w | growth of CPU per request |  | peer: not installed |  | ≤ 1.00 × |  | not measured |"
        );
    }
}
