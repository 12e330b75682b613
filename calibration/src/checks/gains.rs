//! Gains of links, found by delays alone, against callers from which the call was really removed.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error, Outcome, Repetition};
use crate::fault::FaultProxy;
use crate::links::{self, Interval, Link, Needed, bar};
use crate::mock::Mock;
use crate::target::caller;
use serde_json::{Map, Value, json};
use std::cell::Cell;

pub const CHECK: Check = Check {
    name: "gains",
    about: "gains of links against callers that really do without them",
    run,
};

/// Dependencies: components, and the time after which each answers. The first is critical.
const DEPENDENCIES: [(&str, &str); 2] = [("slow", "40ms"), ("quick", "20ms")];

/// A caller of both: its name, and whether it calls them side by side. In sequence it gains 40 and 20 ms without them, side by side 20 and 0.
const CALLERS: [(&str, Order); 2] = [
    ("sequence", Order::InSequence),
    ("parallel", Order::SideBySide),
];

/// The order of calls.
#[derive(Debug, Clone, Copy)]
enum Order {
    InSequence,
    SideBySide,
}

/// Mean and deviation of a caller's own work, in milliseconds.
const WORK_MS: f64 = 7.0;
const RATE: &str = "120/s";
/// Seconds of each load under delays.
const HOLD_S: f64 = 0.5;
/// Seconds of each load of a caller that really does without.
const REMOVED_S: f64 = 3.0;
/// Gains need no slopes; the method wants some.
const DELAYS: [&str; 4] = ["0ms", "4ms", "8ms", "12ms"];

/// By caller and dependency.
type Each<T> = [[T; DEPENDENCIES.len()]; CALLERS.len()];

/// The finding of one experiment.
#[derive(Debug, Clone)]
struct Found {
    /// By dependency; none where no gain is claimed.
    gains_s: [Option<Interval>; DEPENDENCIES.len()],
    critical: Option<String>,
}

/// The findings of one repetition, by caller.
type Repeated = Vec<Found>;

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let (repetitions, blocks, blocks_without) = bench.pick((20, 6, 15), (1, 3, 3));
    bench.progress("gains: callers that do without");
    let truths = removed(bench, blocks_without)?;
    let seed = Cell::new(0);
    let once = || {
        seed.set(seed.get() + 1);
        let experiments = CALLERS.map(|known| under_delays(known, blocks, seed.get()));
        let experiments: Vec<Value> = experiments.into_iter().collect::<Result<_, _>>()?;
        // Of slopes, of gains, and at half the rate twice as long; of each kind one in four may be run again.
        let loads = 7.0 + 3.0 + 2.0 * 3.0 + (2.0 + 2.0 * 2.0);
        let seconds = f64::from(blocks) * loads * (HOLD_S + 1.0);
        found_of(&bench.run_together(&experiments, seconds)?)
    };
    let words = |found: &Repeated| {
        let words: Vec<String> = found.iter().map(Found::words).collect();
        words.join("; ")
    };
    let (done, again) = bench.repeat_undisturbed("gains", repetitions, once, words)?;
    Ok([bars(truths, &done), vec![again]].concat())
}

fn found_of(outcomes: &[Outcome]) -> Result<Repeated, Error> {
    let outcomes = CALLERS.iter().zip(outcomes);
    let found = outcomes.map(|((name, _), outcome)| {
        let gain = |(link, _): (&str, &str)| Ok(Link::of(outcome, name, link)?.gain_s);
        let [slow, quick] = DEPENDENCIES.map(gain);
        let critical = format!("/arms/{name}/critical_link/name");
        let critical = outcome.summary.pointer(&critical).and_then(Value::as_str);
        Ok(Found {
            gains_s: [slow?, quick?],
            critical: critical.map(str::to_owned),
        })
    });
    found.collect()
}

impl Found {
    fn words(&self) -> String {
        let gains = self.gains_s.map(in_ms);
        format!("{}; {}", gains.join(", "), self.critical())
    }

    fn critical(&self) -> String {
        let critical = self.critical.as_deref();
        critical.unwrap_or("not told apart").to_owned()
    }
}

fn in_ms(gain_s: Option<Interval>) -> String {
    links::words(gain_s.map(|gain| gain.times(1e3)))
}

/// `truths`: gains that were really had, in seconds.
fn bars(truths: Each<Interval>, done: &[Repetition<Repeated>]) -> Vec<Bar> {
    let mut bars = Vec::new();
    for (place, (name, _)) in CALLERS.iter().enumerate() {
        for (of, (dependency, _)) in DEPENDENCIES.iter().enumerate() {
            let truth = truths[place][of];
            bars.push(bar(
                format!("{name}: gain without {dependency}, ms"),
                &format!(
                    "the interval holds {:.2} (by callers that do without: {})",
                    truth.value * 1e3,
                    links::words(Some(truth.times(1e3)))
                ),
                Needed::NineOfTen,
                done,
                |found: &Repeated| {
                    found[place].gains_s[of].is_some_and(|gain| gain.holds(truth.value))
                },
                |found| in_ms(found[place].gains_s[of]),
            ));
        }
        let (critical, _) = DEPENDENCIES[0];
        bars.push(bar(
            format!("{name}: critical link"),
            critical,
            Needed::All,
            done,
            |found: &Repeated| found[place].critical.as_deref() == Some(critical),
            |found| found[place].critical(),
        ));
    }
    bars
}

/// The gains, in seconds, of callers that really do without each dependency: what callers of both take longer than one that calls the other
/// alone, over blocks in random order, for a machine may be faster in one minute than in the next. A proxy stands before each dependency, as in
/// the experiments with delays.
fn removed(bench: &Bench, blocks: u32) -> Result<Each<Interval>, Error> {
    let mock = Mock::start_with(bench, &[], &["--shards=1"])?;
    let proxy = FaultProxy::start(bench, 1, "10s")?;
    let address = |name: &str| Ok::<_, Error>(proxy.proxy(name, mock.address)?.to_string());
    let [slow, quick] = [address("slow")?, address("quick")?];
    let calls = [slow, quick]
        .iter()
        .zip(DEPENDENCIES)
        .map(|(at, (_, time))| call(at, time))
        .collect::<Vec<_>>();
    let without = |removed: usize| {
        let other = 1 - removed;
        let (alone, _) = DEPENDENCIES[other];
        let both = CALLERS.map(|(name, order)| (name, order.of(&calls)));
        let callers = both
            .into_iter()
            .chain([(alone, vec![calls[other].clone()])]);
        let (mut components, mut arms) = (Map::new(), Map::new());
        for (name, calls) in callers {
            components.insert(name.to_owned(), caller::component(&arguments(&calls, 0))?);
            arms.insert(name.to_owned(), json!({ "target": name }));
        }
        let load = json!({ "rate": RATE, "warmup": "1s", "duration": format!("{REMOVED_S}s") });
        let method = json!({ "compare": { "baseline": alone, "blocks": blocks } });
        let loads = f64::from(blocks) * f64::from(u32::try_from(arms.len()).unwrap_or(u32::MAX));
        let experiment = experiment(&components, &arms, &load, &method);
        let outcome = bench.run(&experiment, loads * (REMOVED_S + 2.0))?;
        let added = |(name, _): (&str, Order)| {
            let pointer = format!("/arms/{name}/added/mean");
            let found = outcome.summary.pointer(&pointer).and_then(Interval::of);
            found.ok_or_else(|| Error::Measured(format!("there is no interval at {pointer}")))
        };
        let [sequence, parallel] = CALLERS.map(added);
        Ok::<_, Error>([sequence?, parallel?])
    };
    let [slow, quick] = [without(0)?, without(1)?];
    proxy.stop()?;
    mock.stop()?;
    Ok(std::array::from_fn(|caller| [slow[caller], quick[caller]]))
}

/// An experiment that delays the links of one caller.
fn under_delays((name, order): (&str, Order), blocks: u32, seed: u64) -> Result<Value, Error> {
    let mut components = Map::new();
    for (dependency, _) in DEPENDENCIES {
        components.insert(dependency.to_owned(), json!({ "mock": { "shards": 1 } }));
    }
    let calls = DEPENDENCIES.map(|(dependency, time)| {
        call(
            &format!("${{{dependency}.host}}:${{{dependency}.port}}"),
            time,
        )
    });
    let arguments = arguments(&order.of(&calls), seed);
    components.insert(name.to_owned(), caller::component(&arguments)?);
    let arms = Map::from_iter([(name.to_owned(), json!({ "target": name }))]);
    let method = json!({ "sensitivity": {
        "links": "all", "delays": DELAYS, "blocks": blocks, "hold": format!("{HOLD_S}s"),
    } });
    let load = json!({ "rate": RATE, "warmup": "100ms" });
    Ok(experiment(&components, &arms, &load, &method))
}

fn experiment(
    components: &Map<String, Value>,
    arms: &Map<String, Value>,
    load: &Value,
    method: &Value,
) -> Value {
    json!({
        "version": 1,
        "name": "gains",
        "components": components,
        "scenario": [{ "name": "step", "get": "/", "check": { "status": 200 } }],
        "load": load,
        "arms": arms,
        "method": method,
    })
}

/// A call of the dependency at this address, which answers after that time.
fn call(address: &str, time: &str) -> String {
    format!("{address}/delay/{time}")
}

/// A caller's arguments; `steps`: one after the other.
fn arguments(steps: &[String], seed: u64) -> Vec<String> {
    let fixed = [format!("--work-ms={WORK_MS}"), format!("--seed={seed}")];
    let steps = steps.iter().map(|step| format!("--call={step}"));
    fixed.into_iter().chain(steps).collect()
}

impl Order {
    /// Steps that make these calls.
    fn of(self, calls: &[String]) -> Vec<String> {
        match self {
            Self::InSequence => calls.to_vec(),
            Self::SideBySide => vec![calls.join(",")],
        }
    }
}
