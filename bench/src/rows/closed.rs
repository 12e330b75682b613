//! Generators in a closed loop side by side, as fast as nginx answers: ours, the peer that a bar rests on, and others for comparison.

use crate::Error;
use crate::bench::Bench;
use crate::client::{Kind, Protocol};
use crate::figures::findings::Findings;
use crate::figures::rounds::{Turns, interleave};
use crate::figures::row::{Bar, Limit, Quantity, Row};
use crate::reading::generator::{Use, read};

/// A comparison of generators in a closed loop.
pub struct Closed {
    /// Its name in the table.
    pub work: &'static str,
    /// How they speak to nginx.
    pub protocol: Protocol,
    /// Whom the bar is against.
    pub peer: Kind,
    /// Who is shown beside.
    pub shown: &'static [Kind],
    /// On processor time per request, ours to the peer's.
    pub bar: Bar,
}

/// Ours and the peer are measured in every round. Processor time per request hardly moves while the machine stands still for so little.
const TURNS: Turns = Turns {
    judged: 2,
    tolerated: 0.02,
};

/// Measures all of them.
pub fn compare(bench: &Bench, closed: &Closed) -> Result<Findings, Error> {
    let kinds: Vec<Kind> = [Kind::Ours, closed.peer]
        .into_iter()
        .chain(closed.shown.iter().copied())
        .collect();
    let name = |kind: Kind| kind.name().to_owned();
    let sides = interleave(bench, &kinds, TURNS, name, |kind| {
        let usage = Use {
            protocol: closed.protocol,
            ..Use::closed(kind)
        };
        read(bench, usage)
    })?;
    let work = closed.work;
    if let Some(reason) = sides[0].absent() {
        let limit = Some(Limit::Ratio(closed.bar));
        let rows = vec![Row::absent(
            work,
            Quantity::Cost,
            ("plimsoll", &reason),
            limit,
        )];
        return Ok(Findings::of(rows, &sides));
    }
    let ours = (
        sides[0].rounds(|reading| reading.cost_us),
        sides[0].rounds(|reading| reading.per_s),
    );
    let mut rows = Vec::new();
    for (kind, side) in kinds.iter().zip(sides.iter()).skip(1) {
        let name = kind.name();
        let bar = (*kind == closed.peer).then_some(closed.bar);
        if let Some(reason) = side.absent() {
            let limit = bar.map(Limit::Ratio);
            rows.push(Row::absent(work, Quantity::Cost, (name, &reason), limit));
            continue;
        }
        let cost = (name, &side.rounds(|reading| reading.cost_us));
        rows.push(Row::beside(work, Quantity::Cost, &ours.0, cost, bar));
        let throughput = (name, &side.rounds(|reading| reading.per_s));
        let throughput = Row::beside(work, Quantity::Throughput, &ours.1, throughput, None);
        rows.push(throughput);
    }
    Ok(Findings::of(rows, &sides))
}
