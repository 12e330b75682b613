//! How much later than asked for a stub with a delay is answered, by our mock and by WireMock.

use super::Comparison;
use crate::bench::Bench;
use crate::child::{Child, Output};
use crate::client::{self, Job, ours};
use crate::rounds::{Side, interleave};
use crate::row::{Quantity, Row};
use crate::server::{self, Kind};
use crate::trouble::Trouble;
use crate::{http, server_reading};

pub const COMPARISON: Comparison = Comparison {
    name: "delay",
    about: "a stub with a delay of 5 ms, at 2,000/s",
    run,
};

/// Ours first.
const SIDES: [Kind; 2] = [Kind::Mock, Kind::WireMock];
const RATE: u32 = 2_000;
/// What the stub in `config/delayed.json` asks for, in microseconds.
const DELAY_US: f64 = 5_000.0;
const WORK: &str = "mock, delay of 5 ms at 2000/s, answered later than that";

/// Service times in microseconds, less the delay.
struct Late {
    p50: f64,
    p99: f64,
}

fn run(bench: &Bench) -> Result<Vec<Row>, Trouble> {
    let sides = interleave(bench, &SIDES, |kind| late(bench, kind));
    for (kind, side) in SIDES.iter().zip(&sides) {
        if let Some(reason) = side.absent() {
            return Ok(vec![Row::absent(WORK, kind.name(), &reason)]);
        }
    }
    let row = |name, of: fn(&Late) -> f64| {
        let rounds = |side: &Side<Late>| side.rounds(of);
        let wiremock = (SIDES[1].name(), &rounds(&sides[1]));
        Row::beside(
            WORK,
            Quantity::Time(name),
            &rounds(&sides[0]),
            wiremock,
            None,
        )
    };
    Ok(vec![
        row("p50", |late| late.p50),
        row("p99", |late| late.p99),
    ])
}

fn late(bench: &Bench, kind: Kind) -> Result<Late, Trouble> {
    let server = kind.start(bench, bench.placement.server, None)?;
    server_reading::saturate(bench, &server, kind.warmup(bench.lead()))?;
    // Added last, so it answers before the stub without a delay.
    let stub = include_str!("../../config/delayed.json").replace("@body@", server::BODY);
    let (status, body) = http::post(server.address, "/__admin/mappings", &stub)?;
    if status != 201 {
        return Err(Trouble::Behaved(format!("the stub got {status} {body}")));
    }
    let job = Job {
        target: server.address,
        rate: Some(RATE),
        pacing: None,
        length: bench.lead() + bench.window(),
        warmup: bench.lead(),
    };
    let directory = bench.directory()?;
    let command = client::Kind::Ours.command(bench, &job, directory.path())?;
    let cpu = bench.placement.clients;
    let mut client = Child::spawn(&command, cpu, directory.path(), Output::Messages)?;
    client.wait(job.length + server_reading::OVERHEAD)?;
    let summary = ours::summary(directory.path())?;
    let of = |name: &str| ours::number(&summary, &format!("/arms/main/service_time/{name}"));
    let late = |seconds: f64| seconds * 1e6 - DELAY_US;
    Ok(Late {
        p50: late(of("p50")?),
        p99: late(of("p99")?),
    })
}
