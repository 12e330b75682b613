//! Kinds of faults, each proved and healed; and with its mechanism disabled behind its back, never proved.
//!
//! A run has one kind, several times one after the other; a few runs go side by side at low rates. A new kind is its row in [`KINDS`].
//! A component that outlives its kill is ended as the next is started in its place, which may find no group to be in: so such a run has one
//! fault.

mod kinds;
mod sabotage;

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error, Outcome, Running};
use crate::clock;
use kinds::{KINDS, Kind};
use plimsoll_testbed::authority::Authority;
use sabotage::Sabotage;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "faults",
    about: "each kind proved and healed; with its mechanism disabled, not proved",
    run,
};

/// Runs side by side: more would keep each other from being prompt.
const TOGETHER: usize = 4;
/// How long a fault lasts, and the pause behind it.
const LASTS: Duration = Duration::from_millis(300);
const PAUSE: Duration = Duration::from_millis(700);
/// When the first begins: until then a mechanism is disabled.
const FIRST: Duration = Duration::from_secs(2);
/// The criterion of validity that faults are proved.
const FAULT_PROVED: u64 = 16;

/// A kind as it is, or with its mechanism disabled.
#[derive(Clone, Copy)]
struct Case {
    kind: &'static Kind,
    sabotage: Option<&'static Sabotage>,
}

/// Outcomes of the faults of a case.
#[derive(Debug, Default)]
struct Tally {
    wanted: usize,
    proved: usize,
    unproved: usize,
    healed: usize,
    /// Runs of which criterion 16 did not hold.
    invalid: usize,
    runs: usize,
    /// Proofs and reasons where it came out otherwise.
    said: Vec<String>,
}

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let (rounds, times) = bench.pick((4, 5), (1, 1));
    let files = bench.directory()?;
    Authority::equip(&files, &["localhost", "127.0.0.1"])?;
    Sabotage::equip(&files)?;
    let (mut bars, mut cases) = (Vec::new(), Vec::new());
    for kind in &KINDS {
        let mut wanted = Case::of(kind).filter(|case| bench.wants(&case.what()));
        match kind.lacks() {
            None => cases.extend(wanted),
            Some(error) if wanted.next().is_some() => {
                bars.push(Bar::not_measured(kind.name, error.to_string()));
            }
            Some(_) => {}
        }
    }
    let (once, mut often): (Vec<Case>, Vec<Case>) =
        cases.into_iter().partition(Case::is_once_a_run);
    // Those that wait long wait side by side.
    often.sort_by_key(Case::takes);
    for group in often.chunks(TOGETHER) {
        bars.extend(of_group(bench, group, &files, (rounds, times))?);
    }
    for case in once {
        let copies = vec![case; TOGETHER.min(rounds * times)];
        let rounds = rounds * times / copies.len();
        bars.extend(of_group(bench, &copies, &files, (rounds, 1))?);
    }
    Ok(bars)
}

/// The bars of cases that go side by side in so many rounds, with so many faults in each run.
fn of_group(
    bench: &Bench,
    group: &[Case],
    files: &Path,
    (rounds, times): (usize, usize),
) -> Result<Vec<Bar>, Error> {
    let mut tallies: Vec<Tally> = group.iter().map(|_| Tally::default()).collect();
    let (done, seen) = bench.witnessed(|| {
        (0..rounds).try_for_each(|_| together(bench, group, files, times, &mut tallies))
    });
    done?;
    let mut found: Vec<(&Case, Tally)> = Vec::new();
    for (case, tally) in group.iter().zip(tallies) {
        match found
            .iter_mut()
            .find(|(known, _)| known.what() == case.what())
        {
            Some((_, sum)) => sum.merge(tally),
            None => found.push((case, tally)),
        }
    }
    let bars = found.into_iter().map(|(case, tally)| {
        let bar = case.bar(&tally).during(seen);
        bench.progress(&format!("faults: {}: {}", bar.what, bar.measured));
        bar
    });
    Ok(bars.collect())
}

/// One run of each of these cases, side by side.
fn together(
    bench: &Bench,
    cases: &[Case],
    files: &Path,
    times: usize,
    tallies: &mut [Tally],
) -> Result<(), Error> {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let started = cases
            .iter()
            .map(|case| case.start(bench, files, times, scope, &over));
        let started: Result<Vec<Running>, Error> = started.collect();
        let outcomes = started.map(|all| all.into_iter().map(Running::finish).collect::<Vec<_>>());
        over.store(true, Ordering::Relaxed);
        for ((case, tally), outcome) in cases.iter().zip(tallies).zip(outcomes?) {
            tally.wanted += times;
            tally.runs += 1;
            match outcome {
                Ok(outcome) => tally.add(*case, &outcome),
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) => tally.said.push(error.to_string()),
            }
        }
        Ok(())
    })
}

impl Case {
    fn of(kind: &'static Kind) -> impl Iterator<Item = Self> {
        let disabled = kind.sabotages.iter().map(Some);
        let all = std::iter::once(None).chain(disabled);
        all.map(move |sabotage| Self { kind, sabotage })
    }

    fn what(&self) -> String {
        match self.sabotage {
            Some(sabotage) => format!("{}, {}", self.kind.name, sabotage.about()),
            None => self.kind.name.to_owned(),
        }
    }

    /// Whether a run has one such fault alone.
    fn is_once_a_run(&self) -> bool {
        matches!(self.sabotage, Some(Sabotage::Left(_))) && self.kind.starts_anew()
    }

    /// From the beginning of one fault to that of the next.
    fn takes(&self) -> Duration {
        let heals = self.kind.heals_within();
        LASTS + PAUSE + heals + self.sabotage.map_or(Duration::ZERO, Sabotage::patience)
    }

    /// Starts a run of it, and who disables its mechanism from outside until all is over.
    fn start<'scope>(
        &self,
        bench: &Bench,
        files: &Path,
        times: usize,
        scope: &'scope Scope<'scope, '_>,
        over: &'scope AtomicBool,
    ) -> Result<Running, Error> {
        // Runs side by side must not replace the same file.
        let files = copied(files, bench)?;
        let times = u32::try_from(times).unwrap_or(u32::MAX);
        let duration = FIRST + self.takes() * times;
        let experiment = self.experiment(&files, times, duration)?;
        let wrapper = self.sabotage.map(|one| one.wrapper(&files));
        let wrapper = wrapper.unwrap_or_default();
        let wrapper: Vec<&str> = wrapper.iter().map(String::as_str).collect();
        let running = bench.start_under(&wrapper, &experiment, duration.as_secs_f64())?;
        if let Some(sabotage) = self.sabotage.filter(|one| one.is_from_outside()) {
            let root = running.pid();
            scope.spawn(move || sabotage.keep(root, over));
        }
        // The next does not start its processes at the same moment.
        clock::pause(Duration::from_millis(200));
        Ok(running)
    }

    fn experiment(&self, files: &Path, times: u32, duration: Duration) -> Result<Value, Error> {
        let (mut part, mut fault) = self.kind.parts(files);
        if let Some(sabotage) = self.sabotage {
            sabotage.built_in(&mut part, &mut fault);
        }
        let ms = |time: Duration| format!("{}ms", time.as_millis());
        let mut faults = Map::new();
        for number in 0..times {
            let mut one = fault.clone();
            one["at"] = ms(FIRST + self.takes() * number).into();
            one["for"] = ms(LASTS).into();
            faults.insert(format!("fault-{number}"), one);
        }
        let mut load = json!({ "rate": "20/s", "duration": ms(duration), "connections": 100, "timeout": "1s" });
        if self.kind.is_secure() {
            load["connection_per"] = "exchange".into();
            load["tls"] = json!({ "ca": files.join("ca.pem") });
        }
        let mut experiment = json!({
            "version": 1,
            "name": "faults",
            "components": { "part": part },
            "scenario": [{ "get": "/" }],
            "load": load,
            "arms": { "main": { "target": self.kind.target() } },
            "faults": faults,
        });
        self.kind.surroundings(&mut experiment)?;
        if let Some(accomplice) = self.sabotage.and_then(Sabotage::beside) {
            experiment["components"]["accomplice"] = accomplice;
        }
        Ok(experiment)
    }

    fn bar(&self, tally: &Tally) -> Bar {
        let Tally {
            wanted,
            proved,
            unproved,
            healed,
            invalid,
            runs,
            ..
        } = tally;
        let said = tally.said.join(" / ");
        let (limit, mut measured, held) = match self.sabotage {
            None => (
                format!("{wanted} of {wanted} proved and healed, criterion 16 holds"),
                format!("{proved} proved, {healed} healed, {invalid} of {runs} runs invalid"),
                proved == wanted && *invalid == 0,
            ),
            Some(_) => (
                format!("not proved {wanted} of {wanted}, all healed, and the run invalid"),
                format!("{unproved} not proved, {healed} healed, {invalid} of {runs} runs invalid"),
                unproved == wanted && invalid == runs,
            ),
        };
        if !said.is_empty() {
            measured = format!("{measured}: {said}");
        }
        Bar::judged(self.what(), limit, measured, held && healed == wanted)
    }
}

/// Copies of the files, in a directory of their own.
fn copied(files: &Path, bench: &Bench) -> Result<PathBuf, Error> {
    let directory = bench.directory()?;
    let copying = |error| Error::io("copying a certificate", error);
    for entry in fs::read_dir(files).map_err(copying)? {
        let entry = entry.map_err(copying)?;
        fs::copy(entry.path(), directory.join(entry.file_name())).map_err(copying)?;
    }
    Ok(directory)
}

impl Tally {
    fn merge(&mut self, other: Self) {
        self.wanted += other.wanted;
        self.proved += other.proved;
        self.unproved += other.unproved;
        self.healed += other.healed;
        self.invalid += other.invalid;
        self.runs += other.runs;
        self.said.extend(other.said);
    }

    fn add(&mut self, case: Case, outcome: &Outcome) {
        let faults = outcome.summary.pointer("/arms/main/faults");
        for fault in faults.and_then(Value::as_array).into_iter().flatten() {
            let (proved, healed) = (fault["proved"].is_number(), fault["healed"].is_number());
            self.proved += usize::from(proved);
            self.unproved += usize::from(!proved);
            self.healed += usize::from(healed);
            if proved == case.sabotage.is_some() || !healed {
                self.said
                    .push(format!("{}; {}", fault["effect"], fault["heal"]));
            }
        }
        self.invalid += usize::from(outcome.alarms().contains(&FAULT_PROVED));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar::Verdict;

    /// The verdict on a case of two faults in one run.
    fn judged(
        sabotage: Option<&'static Sabotage>,
        faults: &Value,
        criterion_holds: bool,
    ) -> Verdict {
        let case = Case {
            kind: &KINDS[0],
            sabotage,
        };
        let outcome = Outcome {
            summary: json!({
                "arms": { "main": { "faults": faults } },
                "validity": [{ "criterion": FAULT_PROVED, "ok": criterion_holds }],
            }),
            log: String::new(),
        };
        let mut tally = Tally {
            wanted: 2,
            runs: 1,
            ..Tally::default()
        };
        tally.add(case, &outcome);
        case.bar(&tally).verdict
    }

    #[test]
    fn each_fault_counts_and_so_does_the_criterion() {
        let proved = json!({ "proved": 1.0, "healed": 2.0 });
        let unproved = json!({ "proved": null, "healed": 2.0 });
        let unhealed = json!({ "proved": 1.0, "healed": null });
        let check = |disabled: bool, faults: [&Value; 2], holds: bool, expected: Verdict| {
            let sabotage = disabled.then_some(&KINDS[0].sabotages[0]);
            assert_eq!(
                judged(sabotage, &json!(faults), holds),
                expected,
                "{faults:?}"
            );
        };
        check(false, [&proved, &proved], true, Verdict::Held);
        check(false, [&proved, &unproved], true, Verdict::Failed);
        check(false, [&proved, &unhealed], true, Verdict::Failed);
        check(true, [&unproved, &unproved], false, Verdict::Held);
        check(true, [&unproved, &unproved], true, Verdict::Failed);
        check(true, [&unproved, &proved], false, Verdict::Failed);
        assert_eq!(judged(None, &json!([proved]), true), Verdict::Failed);
    }
}
