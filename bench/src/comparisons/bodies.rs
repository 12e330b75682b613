//! Memory of proxies while readers take large bodies slowly: a proxy that streams holds little of each, whatever the size.

use super::{Comparison, Findings, Round};
use crate::Error;
use crate::bench::Bench;
use crate::figures::row::{Bar, Quantity};
use crate::rows::memory::{self, Shown};
use crate::server::Kind;
use crate::{clock, http, interrupt, process};
use std::io::Read as _;
use std::net::TcpStream;
use std::time::Duration;

pub const COMPARISON: Comparison = Comparison {
    name: "bodies",
    about: "100 MB bodies, taken slowly by 20 readers",
    round: Round {
        starts: 5,
        leads: 0,
        measured_times: 2,
    },
    run,
};

/// Ours first.
const PROXIES: [Kind; 4] = [
    Kind::GatewayPlain,
    Kind::NginxProxy,
    Kind::HaProxy,
    Kind::GoProxy,
];
const READERS: u32 = 20;
const BODY_BYTES: u64 = 100_000_000;
/// The bytes that each reader takes at most at a time, and its pause behind them: about 1 MB/s.
const BITE: usize = 65_536;
const REST: Duration = Duration::from_millis(60);
/// One MiB.
const GROWTH: Bar = Bar::at_most(1.048_576);
const SHOWN: [Shown<f64>; 1] = [Shown {
    work: "gateway, 100 MB bodies, 20 slow readers",
    quantity: Quantity::Memory("growth per stream"),
    figure: |megabytes| *megabytes,
    bar: GROWTH,
}];

fn run(bench: &Bench) -> Result<Findings, Error> {
    memory::compare(bench, &SHOWN, &PROXIES, |kind| growth(bench, kind))
}

/// By how many megabytes per reader a proxy grew at most.
fn growth(bench: &Bench, kind: Kind) -> Result<f64, Error> {
    let upstream = Kind::NginxReturn.start(bench, bench.placement.clients, None)?;
    let path = upstream.publish("body", BODY_BYTES)?;
    let proxy = kind.start(bench, bench.placement.server, Some(upstream.address.into()))?;
    let before = process::proportional_megabytes(proxy.pid());
    let failed = || Error::when(format!("reading a body through {}", kind.name()));
    let mut readers: Vec<TcpStream> = (0..READERS)
        .map(|_| http::begin(proxy.address, &path))
        .collect::<Result<_, _>>()
        .map_err(failed())?;
    let mut most = before;
    let end = clock::now() + bench.measured_time();
    let mut bite = vec![0; BITE];
    while clock::now() < end {
        for reader in &mut readers {
            if reader.read(&mut bite).map_err(failed())? == 0 {
                let name = kind.name();
                return Err(Error::Measured(format!("{name} ended a body early")));
            }
        }
        interrupt::check()?;
        most = most.max(process::proportional_megabytes(proxy.pid()));
        clock::pause(REST);
    }
    Ok((most - before) / f64::from(READERS))
}
