//! Memory of our gateway with a million keys, each made by the control API and used once.

use super::{Comparison, Findings, Round};
use crate::Error;
use crate::bench::{Bench, Reading};
use crate::figures::rounds::{MEMORY, interleave};
use crate::figures::row::{Bar, Limit, Quantity, Row};
use crate::process;
use crate::server::Kind;

pub const COMPARISON: Comparison = Comparison {
    name: "key-memory",
    about: "the gateway with 1,000,000 keys, each used once",
    round: Round {
        starts: 120,
        leads: 0,
        measured_times: 0,
    },
    run,
};

const KEYS: u32 = 1_000_000;
/// Shows that the comparison works.
const FEW: u32 = 10_000;
const GATEWAY: Bar = Bar::new(96.0, 64.0);
const QUANTITY: Quantity = Quantity::Memory("memory");

fn run(bench: &Bench) -> Result<Findings, Error> {
    let (keys, work) = match bench.lengths.short {
        true => (FEW, "gateway, Tyk's files, 10,000 keys"),
        false => (KEYS, "gateway, Tyk's files, 1,000,000 keys"),
    };
    let name = |_| "plimsoll gateway, Tyk's files".to_owned();
    let sides = interleave(bench, &[()], MEMORY, name, |()| {
        megabytes(bench, keys).map(Reading::unmoved)
    })?;
    let row = match sides[0].absent() {
        Some(reason) => {
            let limit = Some(Limit::Figure(GATEWAY));
            Row::absent(work, QUANTITY, ("plimsoll", &reason), limit)
        }
        None => {
            let megabytes = sides[0].rounds(|megabytes: &f64| *megabytes);
            Row::alone(work, QUANTITY, &megabytes, Some(GATEWAY))
        }
    };
    Ok(Findings::of(vec![row], &sides))
}

/// Megabytes of the whole process.
fn megabytes(bench: &Bench, keys: u32) -> Result<f64, Error> {
    let upstream = Kind::Mock.start(bench, bench.placement.clients, None)?;
    let gateway = Kind::GatewayKeys(keys);
    let gateway = gateway.start(bench, bench.placement.server, Some(upstream.address.into()))?;
    Ok(process::proportional_megabytes(gateway.pid()))
}
