//! The rows of proxies whose memory was read: ours under a limit of its own, then ours beside each of the others.

use crate::rounds::{Side, Sides};
use crate::row::{Bar, Limit, Quantity, Row};

/// One for each side; ours is the first.
pub fn rows(work: &str, quantity: Quantity, sides: &Sides<f64>, bar: Bar) -> Vec<Row> {
    let of = |side: &Side<f64>| side.rounds(|megabytes| *megabytes);
    let ours = of(&sides[0]);
    let row = |(index, side): (usize, &Side<f64>)| {
        let name = &*side.name;
        let limit = (index == 0).then_some(Limit::Figure(bar));
        match side.absent() {
            Some(reason) => Row::absent(work, quantity, (name, &reason), limit),
            None if index == 0 => Row::alone(work, quantity, &ours, Some(bar)),
            None => Row::beside(work, quantity, &ours, (name, &of(side)), None),
        }
    };
    sides.iter().enumerate().map(row).collect()
}
