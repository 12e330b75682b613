//! How long our mock takes from its start until it listens, with a stub in each of 10,000 files.

use super::{Comparison, Findings, Round};
use crate::Error;
use crate::bench::{Bench, Reading};
use crate::clock;
use crate::figures::rounds::{Turns, interleave};
use crate::figures::row::{Bar, Limit, Quantity, Row};
use crate::server::Site;
use crate::server::mock::{self, Setting};
use std::cell::Cell;

pub const COMPARISON: Comparison = Comparison {
    name: "mock-start",
    about: "our mock with a stub in each of 10,000 files: from its start until it listens",
    round: Round {
        starts: 2,
        leads: 0,
        measured_times: 0,
    },
    run,
};

const SETTING: Setting = Setting::Files(9_999);
const TURNS: Turns = Turns {
    judged: 1,
    tolerated: 0.02,
};
const BAR: Bar = Bar::at_most(1.0);
const WORK: &str = "mock, 10,000 stub files";
const QUANTITY: Quantity = Quantity::Seconds("start");

fn run(bench: &Bench) -> Result<Findings, Error> {
    let name = |setting: Setting| setting.name().to_owned();
    let sides = interleave(bench, &[SETTING], TURNS, name, |setting| {
        start(bench, setting)
    })?;
    let row = match sides[0].absent() {
        Some(reason) => {
            let side = (SETTING.name(), &*reason);
            Row::absent(WORK, QUANTITY, side, Some(Limit::Figure(BAR)))
        }
        None => Row::alone(
            WORK,
            QUANTITY,
            &sides[0].rounds(|seconds| *seconds),
            Some(BAR),
        ),
    };
    Ok(Findings::of(vec![row], &sides))
}

fn start(bench: &Bench, setting: Setting) -> Result<Reading<f64>, Error> {
    let directory = bench.directory()?;
    let site = Site {
        bench,
        cpus: bench.placement.server.into(),
        directory: directory.path(),
        upstream: None,
        admin: Cell::new(None),
    };
    mock::prepare(&site, setting)?;
    let watch = bench.watch();
    let begin = clock::now();
    let (_program, _address) = mock::launch(&site, setting)?;
    let seconds = (clock::now() - begin).as_secs_f64();
    Ok(watch.ends(seconds))
}
