//! Proxies whose memory is read, in turns: ours under a limit of its own, then ours beside each of the others.

use crate::Error;
use crate::bench::{Bench, Reading};
use crate::figures::findings::Findings;
use crate::figures::rounds::{MEMORY, Side, Sides, interleave};
use crate::figures::row::{Bar, Limit, Quantity, Row};
use crate::server::Kind;

/// Reads the megabytes of each; ours is the first.
pub fn compare(
    bench: &Bench,
    (work, quantity, bar): (&str, Quantity, Bar),
    proxies: &[Kind],
    megabytes: impl Fn(Kind) -> Result<f64, Error>,
) -> Result<Findings, Error> {
    let name = |kind: Kind| kind.name().to_owned();
    let sides = interleave(bench, proxies, MEMORY, name, |kind| {
        megabytes(kind).map(Reading::unmoved)
    })?;
    Ok(Findings::of(rows(work, quantity, &sides, bar), &sides))
}

/// One for each side; ours is the first.
fn rows(work: &str, quantity: Quantity, sides: &Sides<f64>, bar: Bar) -> Vec<Row> {
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
