//! Our gateway beside HAProxy: answers of 1 kB, 10 kB and 1 MB. nginx with files stands behind both.

use super::{Comparison, Findings, Round, TOGETHER};
use crate::Error;
use crate::bench::Bench;
use crate::client::wrk::Visit;
use crate::figures::rounds::interleave;
use crate::figures::row::{Bar, Quantity};
use crate::reading::server::{Part, Saturated, read_parts};
use crate::rows::pair;
use crate::server::Kind;

pub const COMPARISON: Comparison = Comparison {
    name: "small-bodies",
    about: "answers of 1 kB, 10 kB and 1 MB through proxies, saturated",
    round: Round {
        starts: 21,
        leads: 6,
        measured_times: 10,
    },
    run,
};

const BODIES: [(u64, &str); 3] = [
    (1_000, "gateway, body of 1 kB"),
    (10_000, "gateway, body of 10 kB"),
    (1_000_000, "gateway, body of 1 MB"),
];
const PROXIES: [Kind; 2] = [Kind::GatewayPlain, Kind::HaProxy];
/// Each by itself with every body.
const PARTS: usize = BODIES.len() * PROXIES.len();
const BAR: Bar = Bar::at_most(1.0);

fn run(bench: &Bench) -> Result<Findings, Error> {
    let parts: [Part; PARTS] = std::array::from_fn(|index| {
        let (bytes, _) = BODIES[index / PROXIES.len()];
        (PROXIES[index % PROXIES.len()], Visit::File(bytes).into())
    });
    let name = |()| "six proxies by turns".to_owned();
    let sides = interleave(bench, &[()], TOGETHER, name, |()| {
        let upstream = Kind::NginxReturn.start(bench, bench.placement.clients, None)?;
        for (bytes, _) in BODIES {
            upstream.publish(&bytes.to_string(), bytes)?;
        }
        read_parts(bench, parts, &upstream)
    })?;
    let row = |(place, (_, work)): (usize, (u64, &str))| {
        let [ours, peer] = [0, 1].map(|proxy| {
            let name = PROXIES[proxy].name();
            (name, sides[0].part(place * PROXIES.len() + proxy, name))
        });
        let beside = [(ours.0, &ours.1), (peer.0, &peer.1)];
        let cost = |seen: &Saturated| seen.cost_us;
        pair::row(work, Quantity::Cost, beside, cost, Some(BAR))
    };
    let rows = BODIES.into_iter().enumerate().map(row).collect();
    Ok(Findings::of(rows, &sides))
}
