//! Another load generator beside trials of an outage: vegeta, at our rate and from where ours is, sees errors when ours does.

use super::Check;
use crate::bar::Bar;
use crate::bench::trials::{self, SHAM, Trial};
use crate::bench::{Bench, Error};
use crate::child::Child;
use crate::foreign::peer;
use crate::rounds::median;
use crate::target::failing::{Failing, How};
use rustix::process::Signal;
use serde_json::{Map, Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "witness",
    about: "vegeta beside trials of an outage: its errors and ours at once",
    run,
};

const TOOL: &str = "vegeta";
const RATE: u32 = 150;
const LENGTH: Duration = Duration::from_millis(500);
/// How long the fault lasts, beyond the failure itself.
const LASTS: &str = "1s";
/// A trial: warm-up, health, phase, the fault, settling, and what starts and ends meanwhile.
const TRIAL_S: f64 = 8.0;
/// So often a trial is made until it counts.
const TRIES: f64 = 3.0;
/// Errors with more seconds between them are of two outages.
const APART_S: f64 = 1.0;
/// Both ends of the windows lie within so many distances of requests.
const WITHIN: f64 = 2.0;
/// In this share of trials.
const SHARE: (usize, usize) = (18, 20);
/// How long vegeta may take to end.
const GRACE: Duration = Duration::from_secs(20);

/// The first and the last error, in seconds of whoever saw them.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Window {
    first: f64,
    last: f64,
}

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let trials = bench.pick(20, 5);
    let vegeta = peer(TOOL)?;
    let target = Failing::start()?;
    let experiment = experiment(&target, trials)?;
    let results = bench.directory()?.join("results");
    let attack = attack(&vegeta, target.address, &results)?;
    let seconds = f64::from(trials) * 1.25 * TRIAL_S * TRIES;
    let (outcome, events) = bench
        .start(&experiment, seconds)?
        .finish_with("events.jsonl")?;
    let theirs = errors(&vegeta, attack, &results)?;
    let ours = windows(&trials::of(&outcome)?, &injections(&events))?;
    Ok(vec![bar(&ours, &theirs)])
}

fn experiment(target: &Failing, trials: u32) -> Result<Value, Error> {
    let mut fault = target.fault(How::Unavailable, 1, LENGTH)?;
    fault["for"] = LASTS.into();
    let faults = Map::from_iter([("failure".to_owned(), fault)]);
    let method = json!({
        "faults": { "failure": { "fault": "failure" } }, "trials": trials, "deadline": "300ms",
        "settle": "1s", "phase": "500ms", "abort": "10s",
    });
    Ok(target.experiment("witness", RATE, faults, method))
}

/// Has vegeta ask until it is told to end.
fn attack(vegeta: &Path, target: SocketAddr, results: &Path) -> Result<Child, Error> {
    let targets = results.with_extension("targets");
    std::fs::write(&targets, format!("GET http://{target}/accounts/0\n"))
        .map_err(Error::when("writing vegeta's targets"))?;
    let mut command = Command::new(vegeta);
    command
        .args(["attack", "-duration=0", &format!("-rate={RATE}/s")])
        .arg(format!("-targets={}", targets.display()))
        .arg(format!("-output={}", results.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Child::spawn(&mut command)
}

/// Ends vegeta, and reads the windows of its errors, in seconds of its clock.
fn errors(vegeta: &Path, mut attack: Child, results: &Path) -> Result<Vec<Window>, Error> {
    attack.signal(Signal::INT)?;
    attack.wait(GRACE)?;
    let encoded = Command::new(vegeta)
        .args(["encode", "-to=csv"])
        .arg(results)
        .output();
    let encoded = encoded.map_err(Error::when("reading vegeta's results"))?;
    Ok(clusters(&String::from_utf8_lossy(&encoded.stdout)))
}

/// Windows of errors in results as CSV: nanoseconds since the epoch, status, and more. They come as they ended.
fn clusters(csv: &str) -> Vec<Window> {
    let failed = |line: &str| {
        let mut fields = line.split(',');
        let (at, status) = (fields.next()?, fields.next()?);
        let at: u64 = at.parse().ok().filter(|_| status != "200")?;
        Some(Duration::from_nanos(at).as_secs_f64())
    };
    let mut failed: Vec<f64> = csv.lines().filter_map(failed).collect();
    failed.sort_by(f64::total_cmp);
    let clusters = failed.chunk_by(|one, next| next - one < APART_S);
    let window = |cluster: &[f64]| {
        let [first, .., last] = cluster else {
            return None;
        };
        Some(Window {
            first: *first,
            last: *last,
        })
    };
    clusters.filter_map(window).collect()
}

/// When faults were injected, in seconds of the run.
fn injections(events: &str) -> Vec<f64> {
    let rows = events.lines().map(serde_json::from_str::<Value>);
    let injected = rows.flatten().filter(|row| row["kind"] == "fault_injected");
    injected.filter_map(|row| row["t"].as_f64()).collect()
}

/// Windows of our errors in seconds of the run, trial by trial, shams left out; `None` where a trial does not count.
fn windows(trials: &[Trial], injections: &[f64]) -> Result<Vec<Option<Window>>, Error> {
    if trials.len() != injections.len() {
        let (trials, faults) = (trials.len(), injections.len());
        let said = format!("{faults} faults in {trials} trials");
        return Err(Error::Measured(said));
    }
    let broken = trials.iter().zip(injections);
    let broken = broken.filter(|(trial, _)| trial.row != SHAM);
    let window = |(trial, injected): (&Trial, &f64)| {
        let outage = trial.counts().then_some(trial.outage)?;
        Some(Window {
            first: injected + outage.first?,
            last: injected + outage.last?,
        })
    };
    Ok(broken.map(window).collect())
}

/// Two clocks of one machine differ by a constant, which is the median over trials.
fn bar(ours: &[Option<Window>], theirs: &[Window]) -> Bar {
    let what = "windows of errors, vegeta's and ours";
    if ours.len() != theirs.len() {
        let measured = format!(
            "vegeta saw {} outages in {} trials",
            theirs.len(),
            ours.len()
        );
        return Bar::judged(what, "as many as trials", measured, false);
    }
    let both = ours.iter().zip(theirs);
    let both: Vec<(Window, Window)> = both
        .filter_map(|(ours, theirs)| Some(((*ours)?, *theirs)))
        .collect();
    let apart = both
        .iter()
        .flat_map(|(ours, theirs)| [theirs.first - ours.first, theirs.last - ours.last]);
    let clocks = median(apart.collect());
    let off = |(ours, theirs): &(Window, Window)| {
        let off = [theirs.first - ours.first, theirs.last - ours.last];
        off.map(|apart| (apart - clocks).abs())
            .into_iter()
            .fold(0.0, f64::max)
    };
    let off: Vec<f64> = both.iter().map(off).collect();
    let limit = WITHIN / f64::from(RATE);
    let held = off.iter().filter(|off| **off <= limit).count();
    let widest = off.iter().copied().fold(0.0, f64::max);
    let measured = format!(
        "{held} of {}, the furthest {:.1} ms; {} trials were void",
        both.len(),
        widest * 1e3,
        ours.len() - both.len()
    );
    let (part, whole) = SHARE;
    if both.len() * 5 < ours.len() * 4 {
        return Bar::not_measured(what, format!("too few trials count: {measured}"));
    }
    Bar::judged(
        what,
        format!(
            "both ends within 2/rate, {:.1} ms, in at least {part} of {whole} trials",
            limit * 1e3
        ),
        measured,
        held * whole >= both.len() * part,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar::Verdict;

    #[test]
    fn errors_are_clusters_by_their_moments() {
        let csv = "3000000000,503,1\n1000000000,200,1\n3500000000,503,1\n9000000000,0,1\n9100000000,503,1,\"x\"\n";
        let window = |first, last| Window { first, last };
        assert_eq!(clusters(csv), [window(3.0, 3.5), window(9.0, 9.1)]);
    }

    #[test]
    fn windows_lie_alike_on_two_clocks() {
        let ours = |shift: f64| -> Vec<Option<Window>> {
            let window = |number: u32| {
                let first = f64::from(number) * 10.0 + if number == 3 { shift } else { 0.0 };
                let last = first + 0.5;
                Some(Window { first, last })
            };
            (0..5).map(window).collect()
        };
        let theirs = ours(0.0).into_iter().flatten().map(|one| Window {
            first: one.first + 1e6,
            last: one.last + 1e6,
        });
        let theirs: Vec<Window> = theirs.collect();
        let check = |ours: &[Option<Window>], theirs: &[Window], expected| {
            let bar = bar(ours, theirs);
            assert_eq!(bar.verdict, expected, "{}", bar.measured);
        };
        check(&ours(0.01), &theirs, Verdict::Held);
        check(&ours(0.02), &theirs, Verdict::Failed);
        check(&ours(0.0), &theirs[1..], Verdict::Failed);
        let mut void = ours(0.0);
        void[0] = None;
        check(&void, &theirs, Verdict::Held);
        void[1] = None;
        check(&void, &theirs, Verdict::NotMeasured);
    }

    #[test]
    fn our_windows_are_those_of_the_faults() {
        let events =
            "{\"t\":4.5,\"kind\":\"fault_injected\"}\n{\"t\":4.6,\"kind\":\"fault_proved\"}\n";
        assert_eq!(injections(events), [4.5]);
        assert!(windows(&[], &[4.5]).is_err());
    }
}
