//! The cost of many stubs, and of stubs that work for their answers, to our mock beside itself with one that does not.

use super::{Comparison, Findings, GROWTH, Round};
use crate::Error;
use crate::bench::{Bench, Reading};
use crate::client::wrk::Visit;
use crate::figures::rounds::{Turns, interleave};
use crate::figures::row::{Bar, Limit, Quantity, Row};
use crate::reading::server::{Saturated, saturate, warm};
use crate::server::Kind;
use crate::server::mock::Setting;

pub const COMPARISON: Comparison = Comparison {
    name: "mock-stubs",
    about: "our mock with many stubs, a template, JSON to compare and to search, saturated",
    round: Round {
        starts: 7,
        leads: 7,
        measured_times: 7,
    },
    run,
};

/// The sides: the name in the table, the setting, and what is asked for.
const SIDES: [(&str, Setting, Visit); 7] = [
    ("one stub", Setting::Plain, Visit::Constant),
    (
        "last of 10,000 stubs",
        Setting::Among(9_999),
        Visit::Constant,
    ),
    (
        "last of 6,000 stubs",
        Setting::Among(5_999),
        Visit::Constant,
    ),
    (
        "unmatched with 6,000 stubs",
        Setting::Among(5_999),
        Visit::Unmatched,
    ),
    (
        "template with three helpers",
        Setting::Template,
        Visit::Rendered,
    ),
    ("equalToJson on 2 kB", Setting::EqualToJson, Visit::Posted),
    ("JSONPath on 2 kB", Setting::JsonPath, Visit::Posted),
];
/// Which side is set beside which, by what, under which bar.
const ROWS: [(usize, usize, Quantity, Bar); 5] = [
    (1, 0, Quantity::Cost, GROWTH),
    (3, 2, Quantity::PerProcessor, Bar::at_least(0.8)),
    (4, 0, Quantity::Cost, WORK),
    (5, 0, Quantity::Cost, JSON),
    (6, 0, Quantity::Cost, JSON),
];
/// A stub that works for its answer.
const WORK: Bar = Bar::at_most(2.5);
/// A stub that looks into a body of 2 kB.
const JSON: Bar = Bar::at_most(2.0);
const TURNS: Turns = Turns {
    judged: SIDES.len(),
    tolerated: 0.02,
};

fn run(bench: &Bench) -> Result<Findings, Error> {
    let name = |(name, _, _): (&str, Setting, Visit)| name.to_owned();
    let sides = interleave(bench, &SIDES, TURNS, name, |(_, setting, visit)| {
        read(bench, setting, visit)
    })?;
    let rows = ROWS.map(|(ours, peer, quantity, bar)| {
        let work = format!("mock, {}", sides[ours].name);
        let absent = [ours, peer].into_iter().find_map(|index| {
            let reason = sides[index].absent()?;
            Some((&*sides[index].name, reason))
        });
        if let Some((side, reason)) = absent {
            let limit = Some(Limit::Ratio(bar));
            return Row::absent(&work, quantity, (side, &reason), limit);
        }
        let figures = |index: usize| sides[index].rounds(|reading| figure(quantity, *reading));
        let theirs = figures(peer);
        Row::beside(
            &work,
            quantity,
            &figures(ours),
            (&sides[peer].name, &theirs),
            Some(bar),
        )
    });
    Ok(Findings::of(rows.to_vec(), &sides))
}

/// Clients and the mock are not always both full, so a throughput is that of a processor.
fn figure(quantity: Quantity, reading: Saturated) -> f64 {
    match quantity {
        Quantity::PerProcessor => 1e6 / reading.cost_us,
        _ => reading.cost_us,
    }
}

fn read(bench: &Bench, setting: Setting, visit: Visit) -> Result<Reading<Saturated>, Error> {
    let kind = Kind::MockWith(setting);
    let server = kind.start(bench, bench.placement.server, None)?;
    warm(bench, kind, &server, visit)?;
    saturate(bench, &server, visit, bench.measured_time())
}
