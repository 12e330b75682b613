//! The row of two sides by one quantity, or of why there is none.

use crate::figures::rounds::Side;
use crate::figures::row::{Bar, Limit, Quantity, Row};

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
