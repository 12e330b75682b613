//! The lab is killed at a random moment of a run with faults, its warden too in some: nothing of the run must be left on the machine.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error, Repetition};
use crate::child::Child;
use crate::left_over::{State, processes};
use crate::target::{caller, fragile};
use crate::{clock, interrupt, process};
use plimsoll_base::random::{Draw, Stream};
use plimsoll_testbed::authority::Authority;
use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "left-behind",
    about: "the lab killed at random moments of runs with faults, its warden too in some",
    run,
};

/// Within this time nothing may be left.
const WITHIN: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_millis(20);
/// The lab is killed this late at most: starting takes a second or more, and faults are opened and healed until here.
const LATEST_S: f64 = 7.0;
/// How long `plimsoll heal` may take.
const HEALING: Duration = Duration::from_secs(30);

/// Whom a signal ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Killed {
    Lab,
    LabAndWarden,
}

/// Where components run: with or without hosts of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Loopback,
    Hosts,
}

impl Layout {
    /// The layout of this run: each in turn.
    fn of(number: u64) -> Self {
        match number.is_multiple_of(2) {
            true => Self::Hosts,
            false => Self::Loopback,
        }
    }

    /// Words that a run of it has among what it changes of the machine.
    fn makes(self) -> &'static [&'static str] {
        match self {
            Self::Loopback => &["group "],
            Self::Hosts => &["group ", "namespace "],
        }
    }
}

/// Findings of one killed run.
struct Found {
    /// Things that were left.
    left: Vec<String>,
    /// From the signal until nothing was left, or `plimsoll heal` was called.
    took: Duration,
    /// Whether a fault was there to be undone at the signal.
    was_open: bool,
}

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let mut bars = Vec::new();
    for (killed, times) in [
        (Killed::Lab, bench.pick(100, 4)),
        (Killed::LabAndWarden, bench.pick(20, 3)),
    ] {
        let mut number = 0;
        let once = || {
            number += 1;
            once(bench, killed, number)
        };
        let done = bench.repeat(killed.what(), times, once, words)?;
        bars.push(bar(killed, &done));
    }
    Ok(bars)
}

fn words(found: &Found) -> String {
    let open = if found.was_open {
        "open"
    } else {
        "nothing open"
    };
    let seconds = found.took.as_secs_f64();
    match found.left.is_empty() {
        true => format!("{open}, nothing left after {seconds:.2} s"),
        false => format!("{open}, left: {}", found.left.join(", ")),
    }
}

fn bar(killed: Killed, done: &[Repetition<Found>]) -> Bar {
    let times = done.len();
    let found = || done.iter().filter_map(|one| one.found.as_ref().ok());
    let clean = found().filter(|one| one.left.is_empty()).count();
    let open = found().filter(|one| one.was_open).count();
    let longest = found().map(|one| one.took).max().unwrap_or_default();
    let otherwise = done.iter().filter(|one| {
        one.found
            .as_ref()
            .map_or(true, |found| !found.left.is_empty())
    });
    let otherwise: Vec<&str> = otherwise.map(|one| one.words.as_str()).collect();
    let mut measured = format!(
        "{clean} of {times}, {open} of them with a fault open; the longest took {:.2} s",
        longest.as_secs_f64()
    );
    if !otherwise.is_empty() {
        measured = format!("{measured}: {}", otherwise.join(" / "));
    }
    let after = match killed {
        Killed::Lab => "",
        Killed::LabAndWarden => " and `plimsoll heal`",
    };
    Bar::judged(
        killed.what(),
        format!(
            "nothing left {times} of {times}, within {} s{after}",
            WITHIN.as_secs()
        ),
        measured,
        clean == times,
    )
}

impl Killed {
    fn what(self) -> &'static str {
        match self {
            Self::Lab => "lab killed",
            Self::LabAndWarden => "lab and warden killed",
        }
    }
}

/// A run that is killed at a moment of this number's.
fn once(bench: &Bench, killed: Killed, number: u64) -> Result<Found, Error> {
    let home = bench.directory()?;
    let (place, temporary) = (home.join("place"), home.join("tmp"));
    for directory in [&place, &temporary] {
        fs::create_dir(directory).map_err(Error::when("a scratch directory"))?;
    }
    let layout = Layout::of(number);
    prepare(&place, layout)?;
    let output = home.join("run");
    let before = State::now(&place);
    let mut lab = start(bench, &home)?;
    let mut draw = Draw::new(number, Stream::Order, u64::from(killed == Killed::Lab));
    clock::pause(Duration::from_secs_f64(LATEST_S * draw.unit()));
    if lab.has_ended()? {
        let said = fs::read_to_string(home.join("output")).unwrap_or_default();
        return Err(Error::Measured(format!("the run ended by itself: {said}")));
    }
    let marker = home.display().to_string();
    let state = State::now(&place).since(&before);
    let was_open = state.iter().any(|one| one.starts_with("file "));
    let is_made = |kind: &&str| state.iter().any(|one| one.starts_with(*kind));
    let is_seen = processes(&marker).len() > 1 && layout.makes().iter().all(is_made);
    if was_open && !is_seen {
        let seen = state.join(", ");
        return Err(Error::Measured(format!(
            "what is there is not seen, but: {seen}"
        )));
    }
    let begun = clock::now();
    kill(lab, killed)?;
    let gone = until_gone(|| processes(&marker))?;
    if killed == Killed::LabAndWarden && output.join("faults.jsonl").exists() {
        // Doing it twice does no harm.
        heal(bench, &output)?;
        heal(bench, &output)?;
    }
    let left = until_gone(|| {
        let mut left = State::now(&place).since(&before);
        let temporary = fs::read_dir(&temporary).into_iter().flatten().flatten();
        left.extend(temporary.map(|entry| format!("file {}", entry.path().display())));
        left
    })?;
    let took = clock::now() - begun;
    fs::remove_dir_all(&home).map_err(Error::when("removing a scratch directory"))?;
    Ok(Found {
        left: gone.into_iter().chain(left).collect(),
        took,
        was_open,
    })
}

/// Looks until nothing is left, or the time is up; what is left then.
fn until_gone(look: impl Fn() -> Vec<String>) -> Result<Vec<String>, Error> {
    let deadline = clock::now() + WITHIN;
    loop {
        let left = look();
        if left.is_empty() || clock::now() > deadline {
            return Ok(left);
        }
        interrupt::check()?;
        clock::sleep(LOOK);
    }
}

/// The experiment and what it needs.
fn prepare(place: &Path, layout: Layout) -> Result<(), Error> {
    Authority::equip(place, &["localhost", "127.0.0.1"])?;
    let experiment = match layout {
        Layout::Loopback => on_loopback()?,
        Layout::Hosts => on_hosts(),
    };
    fs::write(place.join("experiment.yaml"), experiment.to_string())
        .map_err(Error::when("writing an experiment"))
}

/// A server of HTTP, with these words.
fn server(words: &[&str]) -> Value {
    let mut server = fragile::component(words.iter().map(|word| (*word).to_owned()));
    server["ready"] = json!({ "http": "/" });
    server
}

/// A command of the user's that leaves a file until it is healed.
fn theirs() -> Value {
    json!({
        "run": {
            "inject": ["touch", "broken"], "verify": ["test", "-e", "broken"],
            "heal": ["rm", "-f", "broken"], "healed": ["test", "!", "-e", "broken"],
        },
        "at": "1s", "for": "50s",
    })
}

/// The parts that both have in common, with a load on the mock `frozen`.
fn experiment(components: Value, faults: Value) -> Value {
    json!({
        "version": 1,
        "name": "left-behind",
        "components": components,
        "scenario": [{ "get": "/json/valid" }],
        "load": { "rate": "20/s", "connections": 100, "timeout": "1s", "duration": "60s", "target": "frozen" },
        "faults": faults,
    })
}

/// Whatever needs no hosts: a death, a frozen component, limits, a clock, a link, a certificate, and a command.
fn on_loopback() -> Result<Value, Error> {
    let secure = ["tls", "server.pem", "server.key"].map(str::to_owned);
    let calls = [
        "--work-ms=0",
        "--seed=1",
        "--call",
        "${gone.host}:${gone.port}/",
    ];
    let components = json!({
        "frozen": { "mock": { "shards": 1 } },
        "gone": server(&[]),
        "edge": caller::component(&calls.map(str::to_owned))?,
        "held": server(&["busy"]),
        "hungry": server(&["hungry"]),
        "secure": fragile::component(secure),
    });
    let certificate = |flaw: &str, at: &str, lasts: &str| {
        json!({
            "certificate": "secure", "file": "server.pem", "as": flaw, "authority": "ca.pem",
            "authority_key": "ca.key", "reload": "HUP", "at": at, "for": lasts,
        })
    };
    let faults = json!({
        "pause": { "freeze": "frozen", "at": "0s", "for": "50s" },
        "starved": { "cpu": "held", "cores": 0.02, "at": "0s", "for": "1s" },
        "ahead": { "clock": "held", "by": "1h", "at": "3s", "for": "50s" },
        "cert": certificate("expired", "100ms", "2s"),
        "again": certificate("wrong_name", "3s", "50s"),
        "crash": { "kill": "gone", "at": "500ms", "for": "1s" },
        "hushed": { "link": "edge -> gone", "silence": true, "at": "3s", "for": "50s" },
        "starving": { "memory": "hungry", "limit": "64MiB", "at": "2s", "for": "50s" },
        "theirs": theirs(),
    });
    Ok(experiment(components, faults))
}

/// Whatever needs hosts: rules, a lying name server, a host without power, and a full disk.
fn on_hosts() -> Value {
    let mut full = server(&["on", "${self.host}"]);
    (full["host"], full["disk"]) = ("two".into(), "1MiB".into());
    let mut dark = server(&["on", "${self.host}"]);
    dark["host"] = "three".into();
    let components = json!({
        "frozen": { "mock": { "shards": 1 }, "host": "one" },
        "full": full,
        "dark": dark,
    });
    let faults = json!({
        "pause": { "freeze": "frozen", "at": "0s", "for": "50s" },
        "full": { "disk_full": "full", "at": "0s", "for": "50s" },
        "cut": { "partition": ["client", "two"], "at": "200ms", "for": "1s" },
        "lossy": { "loss": ["one", "two"], "share": "20%", "at": "3s", "for": "50s" },
        "lied": { "dns": "one", "name": "two", "answer": "nxdomain", "at": "500ms", "for": "50s" },
        "power": { "power_off": "three", "at": "1s", "for": "1s" },
        "theirs": theirs(),
    });
    let mut experiment = experiment(components, faults);
    experiment["network"] = json!({ "zones": { "a": ["one"], "b": ["two", "three"] } });
    experiment
}

fn start(bench: &Bench, home: &Path) -> Result<Child, Error> {
    let output = fs::File::create(home.join("output")).map_err(Error::when("creating a log"))?;
    let mut command = Command::new(&bench.plimsoll);
    command
        .args(["run", "experiment.yaml", "--no-ui", "--out"])
        .arg(home.join("run"))
        .current_dir(home.join("place"))
        // Whatever comes of the run inherits it, and is known by it.
        .env("TMPDIR", home.join("tmp"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(output);
    Child::spawn(&mut command)
}

/// Kills the lab: first its warden, if it shall do nothing, and there is one.
fn kill(lab: Child, killed: Killed) -> Result<(), Error> {
    let is_warden = |words: &Vec<String>| words.get(1).is_some_and(|word| word == "warden");
    if killed == Killed::LabAndWarden {
        // It starts no other meanwhile.
        lab.signal(Signal::STOP)?;
        let below = process::descendants(lab.pid()).into_iter();
        for (warden, _) in below.filter(|(_, words)| is_warden(words)) {
            kill_process(warden, Signal::KILL)
                .map_err(|error| Error::at_process("killing a warden", error.into()))?;
        }
    }
    lab.kill()
}

fn heal(bench: &Bench, run: &Path) -> Result<(), Error> {
    let mut command = Command::new(&bench.plimsoll);
    command.arg("heal").arg(run).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let status = Child::spawn(&mut command)?.wait(HEALING)?;
    match status.success() {
        true => Ok(()),
        false => Err(Error::Measured(format!("plimsoll heal: {status}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar::Verdict;
    use crate::witness::Seen;

    #[test]
    fn whatever_is_left_once_fails() {
        let check = |left: &[&str], expected: Verdict| {
            let found = |left: &[&str]| Found {
                left: left.iter().map(|one| (*one).to_owned()).collect(),
                took: Duration::from_secs(1),
                was_open: true,
            };
            let done = [found(&[]), found(left)].map(|found| Repetition {
                words: words(&found),
                found: Ok(found),
                seen: Seen::default(),
            });
            let bar = bar(Killed::Lab, &done);
            assert_eq!(bar.verdict, expected, "{}", bar.measured);
        };
        check(&[], Verdict::Held);
        check(&["mount /x"], Verdict::Failed);
    }
}
