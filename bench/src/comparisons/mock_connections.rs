//! Our mock with one stub beside nginx with a constant answer, on few and on many connections.

use super::{Comparison, Round};
use crate::figures::row::Bar;
use crate::reading::connections::read;
use crate::rows::connections::{Curve, compare};
use crate::server::Kind;
use crate::server::mock::Setting;

pub const COMPARISON: Comparison = Comparison {
    name: "mock-connections",
    about: "servers of a constant answer on 50 to 10,000 connections, saturated",
    round: Round {
        starts: 26,
        leads: 22,
        measured_times: 12,
    },
    run: |bench| {
        compare(bench, &CURVE, |kind, connections| {
            read(bench, kind, None, connections)
        })
    },
};

const CURVE: Curve<Kind> = Curve {
    work: "mock, one stub",
    ours: (Kind::Mock, "plimsoll mock"),
    peers: &[(Kind::NginxReturn, "nginx `return 200`")],
    more: Some((Kind::MockWith(Setting::Journal), "mock, one stub, journal")),
    judged: &[50, 1_000, 10_000],
    shown: &[200, 5_000],
    bar: Bar::new(1.0, 0.95),
};
