//! How much later than asked for a stub with a delay is answered, by our mock and by WireMock.

use super::{Comparison, Findings, Round};
use crate::Error;
use crate::bench::{Bench, Reading};
use crate::client::wrk::Visit;
use crate::client::{self, CONNECTIONS, Job, Work, ours};
use crate::figures::rounds::{Side, Turns, interleave};
use crate::figures::row::{Quantity, Row};
use crate::program::Program;
use crate::server::{self, Kind};
use crate::{http, reading::server as server_reading};

pub const COMPARISON: Comparison = Comparison {
    name: "delay",
    about: "a stub with a delay of 5 ms, at 2,000/s",
    round: Round {
        starts: 5,
        leads: 4,
        measured_times: 4,
    },
    run,
};

/// Ours first.
const SIDES: [Kind; 2] = [Kind::Mock, Kind::WireMock];
const RATE: u32 = 2_000;
/// The delay of the stub in `config/delayed.json`, in microseconds.
const DELAY_US: f64 = 5_000.0;
/// As for every p99: that of the machine where it stands still for 1 % of the time.
const TURNS: Turns = Turns {
    judged: 1,
    tolerated: 0.005,
};
const WORK: &str = "mock, delay of 5 ms at 2000/s, answered later than that";

/// Service times in microseconds, less the delay.
struct Late {
    p50: f64,
    p99: f64,
}

fn run(bench: &Bench) -> Result<Findings, Error> {
    let name = |kind: Kind| kind.name().to_owned();
    let sides = interleave(bench, &SIDES, TURNS, name, |kind| late(bench, kind))?;
    for (kind, side) in SIDES.iter().zip(sides.iter()) {
        if let Some(reason) = side.absent() {
            let side = (kind.name(), &*reason);
            let rows = vec![Row::absent(WORK, Quantity::Time("p50"), side, None)];
            return Ok(Findings::of(rows, &sides));
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
    let rows = vec![row("p50", |late| late.p50), row("p99", |late| late.p99)];
    Ok(Findings::of(rows, &sides))
}

fn late(bench: &Bench, kind: Kind) -> Result<Reading<Late>, Error> {
    let server = kind.start(bench, bench.placement.server, None)?;
    server_reading::warm(bench, kind, &server, Visit::Constant)?;
    // Added last, so it answers before the stub without a delay.
    let stub = include_str!("../../config/delayed.json").replace("@body@", server::BODY);
    let (status, body) = http::post(server.address, "/__admin/mappings", &stub)?;
    if status != 201 {
        return Err(Error::Measured(format!("the stub got {status} {body}")));
    }
    let authority = server.authority();
    let job = Job {
        target: server.listener,
        authority: &authority,
        work: Work::Constant,
        connections: CONNECTIONS,
        rate: Some(RATE),
        pacing: None,
        length: bench.lead() + bench.measured_time(),
        warmup: bench.lead(),
    };
    let directory = bench.directory()?;
    let command = client::Kind::Ours.command(bench, &job, directory.path())?;
    let watch = bench.watch();
    let mut client = Program::client(bench, &command, directory.path())?;
    client.wait(job.length + server_reading::OVERHEAD)?;
    let run = watch.ends(());
    let summary = ours::summary(directory.path())?;
    let undone = ours::undone(&summary)?;
    if undone > 0.0 {
        let name = kind.name();
        let text = format!("{name}: {undone} exchanges failed or were dropped");
        return Err(Error::Measured(text));
    }
    let of = |name: &str| ours::number(&summary, &format!("/arms/main/service_time/{name}"));
    let late = |seconds: f64| seconds * 1e6 - DELAY_US;
    Ok(run.with(Late {
        p50: late(of("p50")?),
        p99: late(of("p99")?),
    }))
}
