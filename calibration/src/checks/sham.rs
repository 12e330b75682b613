//! Trials in which nothing is broken: no outage is seen, and where the generator stood still the trial does not count.

use super::Check;
use crate::bar::Bar;
use crate::bench::trials::{self, Trial};
use crate::bench::{Bench, Error, Running};
use crate::child::send;
use crate::target::failing::Failing;
use crate::{clock, process};
use rustix::process::{Pid, Signal};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "sham",
    about: "trials in which nothing is broken, and such in which the generator stands still",
    run,
};

const RATE: u32 = 150;
/// Trials of the one row, of the kind `nothing`: fewer the method refuses.
const TRIALS: usize = 5;
/// How long a fault lasts that is none.
const LASTS: &str = "500ms";
/// A trial: warm-up, health, phase, the fault, settling, and what starts and ends meanwhile.
const TRIAL_S: f64 = 8.0;
/// So often a trial is made until it counts.
const TRIES: f64 = 3.0;
/// From the start of generators to the moment at which they stand still: behind the warm-up, before the earliest end.
const INTO: Duration = Duration::from_millis(2_500);
/// How long they do.
const STOPPED: Duration = Duration::from_millis(200);
const LOOK: Duration = Duration::from_millis(20);
/// One generator has the load, the other the control load.
const GENERATORS: usize = 2;

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let (shams, stops) = bench.pick((100, 20), (TRIALS, 2));
    let mut bars = Bar::part(
        "trials of nothing",
        bench.witnessed(|| untouched(bench, shams)),
    );
    bars.extend(Bar::part(
        "trials whose generator stands still",
        bench.witnessed(|| stopped(bench, stops)),
    ));
    Ok(bars)
}

/// Many shams, and the trials of a row that breaks nothing.
fn untouched(bench: &Bench, shams: usize) -> Result<Vec<Bar>, Error> {
    let target = Failing::start()?;
    let seconds = seconds(shams + TRIALS);
    let outcome = bench.run(&experiment(&target, shams), seconds)?;
    let trials = trials::of(&outcome)?;
    let bar = none_gone(shams, &trials);
    bench.progress(&format!("sham: {}", bar.measured));
    Ok(vec![bar])
}

/// No trial that counts has an outage. That this machine failed by itself makes one void, which says nothing.
fn none_gone(shams: usize, trials: &[Trial]) -> Bar {
    let counted: Vec<&Trial> = trials.iter().filter(|trial| trial.counts()).collect();
    let gone = counted.iter().filter(|trial| trial.failed > 0).count();
    let what = "nothing is broken";
    let measured = format!(
        "{gone} outages in {} trials that count of {}; void: {}",
        counted.len(),
        trials.len(),
        trials::reasons(trials.iter())
    );
    if gone == 0 && counted.len() < shams {
        return Bar::not_measured(what, format!("too few count: {measured}"));
    }
    let limit = format!("no outage in {shams} trials that count");
    Bar::judged(what, limit, measured, gone == 0)
}

/// Shams in which both generators stand still for a moment.
fn stopped(bench: &Bench, stops: usize) -> Result<Vec<Bar>, Error> {
    let target = Failing::start()?;
    let mut running = bench.start(&experiment(&target, TRIALS), seconds(2 * TRIALS))?;
    let mut stopped = BTreeSet::new();
    let mut known = BTreeSet::new();
    let mut number = 0;
    while !running.has_ended()? {
        let generators = generators(&running);
        let is_new = |pid: &Pid| !known.contains(&pid.as_raw_nonzero());
        if generators.len() == GENERATORS && generators.iter().all(is_new) {
            known.extend(generators.iter().map(|pid| pid.as_raw_nonzero()));
            number += 1;
            if stopped.len() < stops {
                clock::pause(INTO);
                stand_still(&generators)?;
                stopped.insert(number);
            }
        }
        clock::sleep(LOOK);
    }
    let trials = trials::of(&running.finish()?)?;
    let bar = all_void(&stopped, stops, &trials);
    bench.progress(&format!("sham: {}", bar.measured));
    Ok(vec![bar])
}

fn generators(running: &Running) -> Vec<Pid> {
    let below = process::descendants(running.pid()).into_iter();
    let is_generator = |words: &[String]| words.get(1).is_some_and(|word| word == "generator");
    below
        .filter(|(_, words)| is_generator(words))
        .map(|(pid, _)| pid)
        .collect()
}

/// Whatever becomes of one, none stays stopped.
fn stand_still(generators: &[Pid]) -> Result<(), Error> {
    let all = |signal| generators.iter().map(move |pid| send(*pid, signal));
    let stopped: Vec<Result<(), Error>> = all(Signal::STOP).collect();
    clock::sleep(STOPPED);
    let go_on: Vec<Result<(), Error>> = all(Signal::CONT).collect();
    stopped.into_iter().chain(go_on).collect()
}

/// Trials of these numbers do not count.
fn all_void(stopped: &BTreeSet<u64>, wanted: usize, trials: &[Trial]) -> Bar {
    let of_stopped = trials
        .iter()
        .filter(|trial| stopped.contains(&trial.number));
    let (void, counted): (Vec<&Trial>, Vec<&Trial>) = of_stopped.partition(|one| !one.counts());
    let others = trials.iter().filter(|one| !stopped.contains(&one.number));
    let counting = others.clone().filter(|one| one.counts()).count();
    Bar::judged(
        format!("both generators stand still for {} ms", STOPPED.as_millis()),
        format!("void {wanted} of {wanted}"),
        format!(
            "{} of {} void ({}); of the other {} trials {counting} count",
            void.len(),
            void.len() + counted.len(),
            trials::reasons(void.iter().copied()),
            others.count(),
        ),
        counted.is_empty() && void.len() == wanted,
    )
}

/// How long so many trials take at most.
fn seconds(trials: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a number of trials")]
    let trials = trials as f64;
    trials * TRIAL_S * TRIES
}

fn experiment(target: &Failing, shams: usize) -> Value {
    let faults = Map::from_iter([("none".to_owned(), json!({ "nothing": true, "for": LASTS }))]);
    let method = json!({
        "faults": { "nothing": { "fault": "none" } }, "trials": TRIALS, "shams": shams, "deadline": "300ms",
        "settle": "1s", "phase": "500ms", "abort": "10s",
    });
    target.experiment("sham", RATE, faults, method)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar::Verdict;
    use crate::bench::trials::Outage;

    fn trials(each: &[(u64, &[&str])]) -> Vec<Trial> {
        let one = |(number, (failed, void)): (u64, &(u64, &[&str]))| Trial {
            number,
            row: trials::SHAM.to_owned(),
            outage: Outage::default(),
            failed: *failed,
            resolution: 0.01,
            is_below: true,
            void: void.iter().map(|why| (*why).to_owned()).collect(),
        };
        (1..).zip(each).map(one).collect()
    }

    #[test]
    fn an_outage_of_nothing_fails_unless_the_trial_is_void() {
        let check = |each: &[(u64, &[&str])], expected| {
            let bar = none_gone(2, &trials(each));
            assert_eq!(bar.verdict, expected, "{}", bar.measured);
        };
        check(&[(0, &[]), (0, &[]), (7, &["stall"])], Verdict::Held);
        check(&[(0, &[]), (1, &[]), (0, &[])], Verdict::Failed);
        check(&[(0, &[]), (0, &["stall"])], Verdict::NotMeasured);
    }

    #[test]
    fn each_trial_in_which_it_stood_still_is_void() {
        let check = |stopped: &[u64], each: &[(u64, &[&str])], expected| {
            let stopped = stopped.iter().copied().collect();
            let bar = all_void(&stopped, 2, &trials(each));
            assert_eq!(bar.verdict, expected, "{}", bar.measured);
        };
        check(
            &[1, 3],
            &[(0, &["a"]), (0, &[]), (0, &["b"])],
            Verdict::Held,
        );
        check(
            &[1, 2],
            &[(0, &["a"]), (0, &[]), (0, &["b"])],
            Verdict::Failed,
        );
        check(&[1], &[(0, &["a"]), (0, &[]), (0, &["b"])], Verdict::Failed);
    }
}
