//! Servers whose memory is read, in turns: ours under limits of its own, then ours beside each of the others.

use crate::Error;
use crate::bench::{Bench, Reading};
use crate::figures::findings::Findings;
use crate::figures::rounds::{MEMORY, Side, Sides, interleave};
use crate::figures::row::{Bar, Limit, Quantity, Row};
use crate::server::Kind;

/// A figure that is shown of every reading.
pub struct Shown<R> {
    /// The work, as the table has it.
    pub work: &'static str,
    /// The quantity.
    pub quantity: Quantity,
    /// How it is had from a reading.
    pub figure: fn(&R) -> f64,
    /// The limit of ours.
    pub bar: Bar,
}

/// Reads each server; ours is the first.
pub fn compare<R>(
    bench: &Bench,
    shown: &[Shown<R>],
    servers: &[Kind],
    read: impl Fn(Kind) -> Result<R, Error>,
) -> Result<Findings, Error> {
    let name = |kind: Kind| kind.name().to_owned();
    let sides = interleave(bench, servers, MEMORY, name, |kind| {
        read(kind).map(Reading::unmoved)
    })?;
    let rows = shown.iter().flat_map(|shown| shown.rows(&sides));
    Ok(Findings::of(rows.collect(), &sides))
}

impl<R> Shown<R> {
    /// One for each side; ours is the first.
    fn rows(&self, sides: &Sides<R>) -> Vec<Row> {
        let Self { work, quantity, .. } = *self;
        let ours = sides[0].rounds(self.figure);
        let row = |(index, side): (usize, &Side<R>)| {
            let name = &*side.name;
            let limit = (index == 0).then_some(Limit::Figure(self.bar));
            match side.absent() {
                Some(reason) => Row::absent(work, quantity, (name, &reason), limit),
                None if index == 0 => Row::alone(work, quantity, &ours, Some(self.bar)),
                None => {
                    let theirs = side.rounds(self.figure);
                    Row::beside(work, quantity, &ours, (name, &theirs), None)
                }
            }
        };
        sides.iter().enumerate().map(row).collect()
    }
}
