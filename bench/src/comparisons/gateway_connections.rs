//! Our gateway, plain, beside two reverse proxies, on few and on many connections. Our mock stands behind all, and each keeps as many
//! connections to it as it has clients.

use super::{Comparison, Round};
use crate::figures::row::Bar;
use crate::reading::connections::read;
use crate::rows::connections::{Curve, compare};
use crate::server::Kind;

pub const COMPARISON: Comparison = Comparison {
    name: "gateway-connections",
    about: "reverse proxies on 50 to 5,000 connections, saturated",
    round: Round {
        starts: 30,
        leads: 16,
        measured_times: 11,
    },
    run: |bench| {
        compare(bench, &CURVE, |kind, connections| {
            read(bench, kind, Some(Kind::Mock), connections)
        })
    },
};

/// A proxy has two descriptors for each connection: 5,000 are what a limit of 20,000 leaves to one that keeps some free.
const CURVE: Curve<Kind> = Curve {
    work: "gateway, plain",
    ours: (Kind::GatewayPlain, "plimsoll gateway, plain"),
    peers: &[
        (Kind::NginxProxy, "nginx `proxy_pass`"),
        (Kind::HaProxy, "HAProxy"),
    ],
    more: None,
    judged: &[50, 1_000, 5_000],
    shown: &[200],
    bar: Bar::new(1.0, 0.9),
};
