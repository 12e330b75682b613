//! Reverse proxies with requests of few and of many header fields: how processor time grows, ours beside the peers' own growth.

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
    name: "fields",
    about: "reverse proxies with 5 and with 50 header fields, saturated",
    round: Round {
        starts: 21,
        leads: 6,
        measured_times: 10,
    },
    run,
};

const FEW: u32 = 5;
const MANY: u32 = 50;
/// Ours first.
const PROXIES: [Kind; 3] = [Kind::GatewayPlain, Kind::NginxProxy, Kind::HaProxy];
/// Each by itself with few fields, and again with many.
const PARTS: usize = 2 * PROXIES.len();
/// Ours grows no more than a peer does.
const NO_MORE: Bar = Bar::at_most(1.0);
const WORK: &str = "gateway, 5 to 50 header fields";

fn run(bench: &Bench) -> Result<Findings, Error> {
    let parts: [Part; PARTS] = std::array::from_fn(|index| {
        let fields = if index < PROXIES.len() { FEW } else { MANY };
        (PROXIES[index % PROXIES.len()], Visit::Fields(fields).into())
    });
    let name = |()| "six proxies by turns".to_owned();
    let together = interleave(bench, &[()], TOGETHER, name, |()| {
        let upstream = Kind::Mock.start(bench, bench.placement.clients, None)?;
        read_parts(bench, parts, &upstream)
    })?;
    let name = |index: usize| PROXIES[index % PROXIES.len()].name();
    let of = |index: usize| together[0].part(index, name(index));
    let mut rows = Vec::new();
    for peer in 1..PROXIES.len() {
        let few = [of(0), of(peer)];
        let many = [of(PROXIES.len()), of(PROXIES.len() + peer)];
        for (fields, [ours, theirs]) in [(FEW, &few), (MANY, &many)] {
            let sides = [(name(0), ours), (name(peer), theirs)];
            let work = format!("gateway, {fields} header fields");
            rows.push(pair::row(&work, Quantity::Cost, sides, cost, None));
        }
        let grown = |side: usize| [&many[side], &few[side]];
        let sides = [(name(0), grown(0)), (name(peer), grown(1))];
        rows.push(pair::growth(WORK, sides, cost, Some(NO_MORE)));
    }
    Ok(Findings::of(rows, &together))
}

fn cost(seen: &Saturated) -> f64 {
    seen.cost_us
}
