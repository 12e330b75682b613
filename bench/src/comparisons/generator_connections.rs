//! Generators in a closed loop on few and on many connections.

use super::{Comparison, Round};
use crate::client::Kind;
use crate::figures::row::Bar;
use crate::reading::generator::{Use, read};
use crate::rows::connections::{Curve, compare};

pub const COMPARISON: Comparison = Comparison {
    name: "generator-connections",
    about: "generators on 50 to 10,000 connections, as fast as answers come",
    round: Round {
        starts: 22,
        leads: 15,
        measured_times: 9,
    },
    run: |bench| {
        compare(bench, &CURVE, |kind, connections| {
            let usage = Use {
                connections,
                ..Use::closed(kind)
            };
            let seen = read(bench, usage)?;
            Ok(seen.with(seen.figures.cost_us))
        })
    },
};

const CURVE: Curve<Kind> = Curve {
    work: "generator, closed",
    ours: (Kind::Ours, "plimsoll"),
    peers: &[(Kind::Wrk, "wrk")],
    more: None,
    judged: &[50, 1_000, 10_000],
    shown: &[200, 5_000],
    bar: Bar::new(1.0, 0.9),
};
