//! The confusion matrix of the bottleneck verdict: ten causes are built in, one at a time, and the first cause that is named is held
//! against the one that is there. Beside it, what all probes together cost.
//!
//! One file per cause; a new one is its file and its line in [`CAUSES`].

mod backlog;
mod dependency;
mod generator;
mod one_thread;
mod pool;
mod ports;
mod processor;
mod quota;
mod think_time;
mod upstream;

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error, Outcome, Repetition};
use crate::subject;
use serde_json::{Value, json};

pub const CHECK: Check = Check {
    name: "causes",
    about: "ten causes built in, one at a time; which was named first, and what the probes cost",
    run,
};

/// One cause that is built in.
struct Injected {
    what: &'static str,
    /// The kind that must be named first, and of which component.
    kind: &'static str,
    component: Option<&'static str>,
    /// One run with it.
    inject: fn(&Bench) -> Result<Outcome, Error>,
}

const CAUSES: [Injected; 10] = [
    processor::CAUSE,
    upstream::CAUSE,
    one_thread::CAUSE,
    quota::CAUSE,
    pool::CAUSE,
    backlog::CAUSE,
    ports::CAUSE,
    dependency::CAUSE,
    think_time::CAUSE,
    generator::CAUSE,
];

/// Seconds of load of each run, warm-up included.
const SECONDS: f64 = 7.0;
/// The bar: of fifty first causes so many must be right.
const RIGHT: f64 = 0.9;
/// All probes together may take so much of a processor.
const PROBES: f64 = 0.005;

/// The cause that a run named.
#[derive(Debug, Clone)]
struct Named {
    kind: Option<String>,
    component: Option<String>,
    statement: String,
    probes_cores: f64,
}

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let times = bench.pick(5, 1);
    let (mut bars, mut right, mut wrong, mut all) = (Vec::new(), 0, Vec::new(), 0);
    let mut dearest = 0.0_f64;
    for cause in &CAUSES {
        let once = || named(&(cause.inject)(bench)?);
        let words = |named: &Named| format!("{} {}", named.word(), named.of());
        let (done, seen) = bench.witnessed(|| bench.repeat(cause.what, times, once, words));
        let done = match done {
            Ok(done) => done,
            Err(error) => {
                bars.push(Bar::error(cause.what, &error).during(seen));
                continue;
            }
        };
        let hits = done.iter().filter(|one| cause.is_named_by(one)).count();
        let found = || done.iter().filter_map(|one| one.found.as_ref().ok());
        dearest = found()
            .map(|named| named.probes_cores)
            .fold(dearest, f64::max);
        let others = found().filter(|named| !cause.is(named) && named.kind.is_some());
        wrong.extend(others.map(|named| {
            format!(
                "{} called {}: {}",
                cause.what,
                named.word(),
                named.statement
            )
        }));
        (right, all) = (right + hits, all + done.len());
        bars.push(cause.bar(&done, hits).during(seen));
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of runs")]
    let share = right as f64 / all.max(1) as f64;
    let limit = format!("at least {:.0} % right", 100.0 * RIGHT);
    let measured = format!("{right} of {all}; wrong answers: {}", list(&wrong));
    bars.push(Bar::judged("first causes", limit, measured, share >= RIGHT));
    bars.push(Bar::judged(
        "all probes together, dearest run",
        format!("at most {:.1} % of a core", 100.0 * PROBES),
        format!("{:.3} %", 100.0 * dearest),
        dearest <= PROBES,
    ));
    Ok(bars)
}

fn list(items: &[String]) -> String {
    if items.is_empty() {
        "none".to_owned()
    } else {
        items.join(" / ")
    }
}

fn named(outcome: &Outcome) -> Result<Named, Error> {
    let first = outcome
        .summary
        .pointer("/arms/main/bottleneck/causes/0")
        .cloned()
        .unwrap_or_default();
    let text = |key: &str| first[key].as_str().map(str::to_owned);
    Ok(Named {
        kind: text("kind"),
        component: text("component"),
        statement: text("statement").unwrap_or_default(),
        probes_cores: outcome.main("host/probes_cores")?,
    })
}

impl Named {
    fn word(&self) -> &str {
        self.kind.as_deref().unwrap_or("unknown")
    }

    fn of(&self) -> &str {
        self.component.as_deref().unwrap_or("")
    }
}

impl Injected {
    fn is(&self, named: &Named) -> bool {
        named.kind.as_deref() == Some(self.kind) && named.component.as_deref() == self.component
    }

    fn is_named_by(&self, repetition: &Repetition<Named>) -> bool {
        repetition.found.as_ref().is_ok_and(|named| self.is(named))
    }

    fn bar(&self, done: &[Repetition<Named>], hits: usize) -> Bar {
        let words: Vec<&str> = done.iter().map(|one| one.words.trim()).collect();
        Bar::shown(
            self.what,
            format!("{} {}", self.kind, self.component.unwrap_or("")).trim(),
            format!("{hits} of {}: {}", done.len(), words.join(", ")),
        )
    }
}

/// An experiment on a subject: its arguments beyond the port, what else is said of it, the upstream, and the load.
fn through_subject(
    arguments: &[&str],
    placement: &Value,
    upstream: &Value,
    load: Value,
) -> Result<Value, Error> {
    let here = std::env::current_exe().map_err(|e| Error::io("finding this program", e))?;
    let mut command = vec![here.display().to_string()];
    command.extend([subject::WORD, "--port", "${self.port}"].map(str::to_owned));
    command.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    let mut proxy = json!({ "command": command });
    if let (Some(proxy), Some(placement)) = (proxy.as_object_mut(), placement.as_object()) {
        proxy.extend(placement.clone());
    }
    Ok(json!({
        "version": 1,
        "name": "calibration",
        "components": { "upstream": upstream, "proxy": proxy },
        "generator": { "cpus": [0] },
        "scenario": [{ "name": "step", "get": "/" }],
        "load": load,
        "arms": { "main": { "target": "proxy" } },
        "method": "measure",
    }))
}

/// The words by which a subject hands everything on.
const ONWARD: [&str; 2] = ["--upstream", "${upstream.host}:${upstream.port}"];

/// So many a second over fifty connections, more than any subject carries.
fn offered(rate: &str) -> Value {
    json!({ "rate": rate, "connections": 50, "warmup": "1s", "duration": "6s" })
}
