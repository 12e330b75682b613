//! What spans cost our gateway: without tracing, with one request of a hundred sampled, and with all of them.

use super::{Comparison, Findings, Round};
use crate::Trouble;
use crate::bench::Bench;
use crate::rounds::{Turns, interleave};
use crate::row::{Bar, Limit, Quantity, Row};
use crate::server::Kind;
use crate::server::mock::Setting;
use crate::server_reading::{ServerReading, read};
use crate::server_rows::not_kept;
use crate::statistics::Rounds;

pub const COMPARISON: Comparison = Comparison {
    name: "tracing",
    about: "the gateway without spans, with 1 % and with all requests sampled",
    round: Round {
        starts: 9,
        leads: 3,
        measured_times: 6,
    },
    run,
};

/// Without spans first.
const SIDES: [Kind; 3] = [
    Kind::GatewayPlain,
    Kind::GatewayTraced("1%"),
    Kind::GatewayTraced("100%"),
];
const TURNS: Turns = Turns {
    judged: 3,
    tolerated: 0.02,
};
const RATE: u32 = 20_000;
const ROWS: [(usize, &str, Bar); 2] = [
    (1, "1 % of requests", Bar::at_most(1.0)),
    (2, "100 % of requests", Bar::at_most(3.0)),
];
const QUANTITY: Quantity = Quantity::Time("added CPU per request");

fn run(bench: &Bench) -> Result<Findings, Trouble> {
    let upstream = Kind::MockWith(Setting::Collector);
    let name = |kind: Kind| match kind {
        Kind::GatewayTraced(share) => format!("{} {share}", kind.name()),
        _ => kind.name().to_owned(),
    };
    let sides = interleave(bench, &SIDES, TURNS, name, |kind| {
        read(bench, kind, Some(upstream), Some(RATE))
    })?;
    let mut rows = Vec::new();
    for (index, share, bar) in ROWS {
        // As fast as answers come more spans are made than the collector's processor takes: shown, and not judged.
        let at_rate: fn(&ServerReading) -> Option<f64> = |seen| seen.common.cost_us();
        let saturated: fn(&ServerReading) -> Option<f64> = |seen| Some(seen.saturated.cost_us);
        let work = format!("gateway, spans of {share}");
        for (work, cost, bar) in [
            (format!("{work}, {RATE}/s"), at_rate, Some(bar)),
            (format!("{work}, saturated"), saturated, None),
        ] {
            rows.push(match sides[index].absent().or_else(|| sides[0].absent()) {
                Some(reason) => {
                    let limit = bar.map(Limit::Figure);
                    Row::absent(&work, QUANTITY, ("plimsoll", &reason), limit)
                }
                None => {
                    let added = added(&sides[index].rounds(cost), &sides[0].rounds(cost));
                    Row::alone(&work, QUANTITY, &added, bar)
                }
            });
        }
    }
    let mut findings = Findings::of(rows, &sides);
    findings.notes.extend(not_kept(&sides));
    Ok(findings)
}

/// The differences by round.
fn added(with: &Rounds, without: &Rounds) -> Rounds {
    let pairs = with.iter().zip(without);
    pairs
        .map(|(with, without)| Some((*with)? - (*without)?))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_spans_add_is_the_difference_by_round() {
        let with = vec![Some(9.5), None];
        let without = vec![Some(9.0), Some(9.0)];
        assert_eq!(added(&with, &without), [Some(0.5), None]);
    }
}
