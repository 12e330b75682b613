//! Outages of a target that fails for a known time, for everybody or for some, against what the method `availability` says of them.

mod bars;
mod cells;

use super::Check;
use crate::bar::Bar;
use crate::bench::trials::{self, SHAM, Trial};
use crate::bench::{Bench, Error};
use crate::target::failing::{Failing, Failure, How};
use cells::{Cell, RATES};
use serde_json::{Map, Value, json};
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "outages",
    about: "a target that fails for a known time: intervals, lost requests, resolution",
    run,
};

/// Fewer trials of a row the method refuses.
const TRIALS: usize = 5;
/// An answer that comes later is none.
const DEADLINE: &str = "300ms";
/// A fault lasts so much longer than the target fails, so that nothing of it falls to the heal.
const LONGER: Duration = Duration::from_millis(500);
/// A trial beside the time of its fault: warm-up, health, phase, settling, and what starts and ends meanwhile.
const AROUND_S: f64 = 8.0;
/// So often a trial is made until it counts.
const TRIES: f64 = 3.0;

/// A trial with its truth.
struct Found {
    cell: Cell,
    trial: Trial,
    failure: Failure,
}

/// Findings of all trials.
#[derive(Default)]
struct Findings {
    found: Vec<Found>,
    shams: Vec<Trial>,
    wanted: usize,
}

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let rates = bench.pick(&RATES[..], &RATES[..1]);
    let mut findings = Findings::default();
    for rate in rates {
        let mut cells = cells::all();
        cells.retain(|cell| cell.rate == *rate);
        let cells = bench.pick(cells.clone(), cells::few(cells));
        measure(bench, *rate, &cells, &mut findings)?;
        bench.progress(&format!(
            "outages: {rate}/s: {} trials count; void: {}",
            findings
                .found
                .iter()
                .filter(|one| one.trial.counts())
                .count(),
            trials::reasons(findings.found.iter().map(|one| &one.trial)),
        ));
    }
    Ok(bars::bars(&findings))
}

/// An experiment with a row for each of these cells.
fn measure(bench: &Bench, rate: u32, cells: &[Cell], findings: &mut Findings) -> Result<(), Error> {
    let target = Failing::start()?;
    let experiment = experiment(&target, rate, cells)?;
    #[expect(clippy::cast_precision_loss, reason = "a number of trials")]
    let of_each = TRIALS as f64 * TRIES;
    let seconds = cells
        .iter()
        .map(|cell| cell.length.as_secs_f64() + AROUND_S);
    let seconds = (seconds.sum::<f64>() + AROUND_S) * of_each;
    let outcome = bench.run(&experiment, seconds)?;
    let (shams, broken): (Vec<Trial>, Vec<Trial>) =
        (trials::of(&outcome)?.into_iter()).partition(|trial| trial.row == SHAM);
    findings.wanted += cells.len() * TRIALS;
    findings.shams.extend(shams);
    let failures = target.failures();
    if failures.len() != broken.len() {
        let (said, trials) = (failures.len(), broken.len());
        return Err(Error::Measured(format!(
            "the target failed {said} times in {trials} trials"
        )));
    }
    for (trial, failure) in broken.into_iter().zip(failures) {
        let cell = cells.iter().find(|cell| cell.name() == trial.row);
        let fits = |cell: &&Cell| cell.how == failure.how && cell.each == failure.each;
        let cell = *cell.filter(fits).ok_or_else(|| {
            Error::Measured(format!("{}: the target failed otherwise", trial.row))
        })?;
        findings.found.push(Found {
            cell,
            trial,
            failure,
        });
    }
    Ok(())
}

fn experiment(target: &Failing, rate: u32, cells: &[Cell]) -> Result<Value, Error> {
    let (mut faults, mut rows) = (Map::new(), Map::new());
    for cell in cells {
        let mut fault = target.fault(cell.how, cell.each, cell.length)?;
        fault["for"] = format!("{}ms", (cell.length + LONGER).as_millis()).into();
        faults.insert(cell.name(), fault);
        rows.insert(cell.name(), json!({ "fault": cell.name() }));
    }
    let method = json!({
        "faults": rows, "trials": TRIALS, "deadline": DEADLINE,
        "settle": "1s", "phase": "500ms", "abort": "10s",
    });
    Ok(target.experiment("outages", rate, faults, method))
}

impl Found {
    /// How long the target failed, in seconds.
    fn length(&self) -> f64 {
        self.failure.length().unwrap_or_default().as_secs_f64()
    }

    /// Whether the interval, so much wider on either side, holds how long the target failed.
    fn holds_within(&self, tolerance: f64) -> bool {
        let unsure = self.failure.unsure.as_secs_f64() / 2.0;
        let middle = self.length() - unsure;
        self.trial.holds_within(middle, tolerance + unsure)
    }

    /// Requests that were lost over the rate: those that it counted, or where nobody escaped those that came meanwhile.
    fn lost(&self) -> f64 {
        if self.cell.each == 1 || self.cell.how == How::Refuses {
            return self.length();
        }
        #[expect(clippy::cast_precision_loss, reason = "a number of requests")]
        let requests = self.failure.requests as f64;
        requests / f64::from(self.cell.rate)
    }
}
