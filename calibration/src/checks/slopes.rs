//! Slopes of callers whose call structure is known: does the interval hold the truth, is a straight line called so, is a hinge found where
//! it is, and is queueing told from delay?

mod bars;
mod structures;

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error};
use crate::links::{self, Link};
use crate::target::caller;
use plimsoll_testbed::authority::Authority;
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use structures::{AUTHORITY, DELAYS_MS, STRUCTURES, Structure};

pub const CHECK: Check = Check {
    name: "slopes",
    about: "callers of known structure under delays: slopes, shapes, hinges, queueing",
    run,
};

/// Structures of one experiment. Four experiments run side by side, at low rates, the last of them a third of the time: more would stall each
/// other's generators.
const OF_ONE: usize = 3;
/// Seconds of each load.
const HOLD_S: f64 = 0.5;

/// The link of each structure, in their order.
type Found = Vec<Link>;

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let (repetitions, blocks) = bench.pick((20, 6), (1, 3));
    let stubs = stubs(&bench.directory()?)?;
    let seed = Cell::new(0);
    let once = || {
        seed.set(seed.get() + 1);
        repetition(bench, &stubs, blocks, seed.get())
    };
    let (done, again) = bench.repeat_undisturbed("slopes", repetitions, once, words)?;
    Ok([bars::bars(&done), vec![again]].concat())
}

/// All structures, a few in each of several experiments that run side by side.
fn repetition(bench: &Bench, stubs: &Path, blocks: u32, seed: u64) -> Result<Found, Error> {
    let groups = STRUCTURES.chunks(OF_ONE);
    let experiments = groups.map(|group| experiment(group, stubs, blocks, seed));
    let experiments: Vec<Value> = experiments.collect::<Result<_, _>>()?;
    let outcomes = bench.run_together(&experiments, seconds(blocks))?;
    let groups = STRUCTURES.chunks(OF_ONE).zip(&outcomes);
    let links = groups.flat_map(|(group, outcome)| {
        let link = |known: &Structure| Link::of(outcome, known.name, known.link);
        group.iter().map(link)
    });
    links.collect()
}

/// How long an experiment takes at most: loads of slopes, of gains, and at half the rate twice as long, each with a second of its own; of
/// each kind one in four may be run again.
fn seconds(blocks: u32) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a number of delays")]
    let loads = (DELAYS_MS.len() as f64 + 2.0 + 2.0 * 2.0) * 1.5;
    #[expect(clippy::cast_precision_loss, reason = "a number of structures")]
    let structures = OF_ONE as f64;
    structures * f64::from(blocks) * loads * (HOLD_S + 1.0)
}

fn words(found: &Found) -> String {
    let each = STRUCTURES.iter().zip(found);
    let each = each.map(|(known, link)| format!("{} {}", known.name, links::words(link.slope)));
    each.collect::<Vec<_>>().join(", ")
}

/// The directory of the dependency's stub that refuses first attempts, of its certificate, and of the authority that issued it.
fn stubs(directory: &Path) -> Result<PathBuf, Error> {
    let write = |name: &str, text: &str| {
        let written = fs::write(directory.join(name), text);
        written.map_err(|e| Error::io("writing a stub", e))
    };
    let made = fs::create_dir_all(directory.join("mappings"));
    made.map_err(|e| Error::io("a directory of stubs", e))?;
    let attempt = |number: &str, status: u16| {
        json!({
            "request": { "method": "GET", "url": "/flaky", "headers": { "X-Attempt": { "equalTo": number } } },
            "response": { "status": status },
        })
    };
    let mappings = json!({ "mappings": [attempt("1", 503), attempt("2", 200)] });
    write("mappings/flaky.json", &mappings.to_string())?;
    let authority = Authority::new()?;
    let issued = authority.issue(&["127.0.0.1"])?;
    write("ca.pem", authority.certificate())?;
    write("cert.pem", &issued.certificate)?;
    write("key.pem", &issued.key)?;
    Ok(directory.to_owned())
}

/// An experiment with an arm for each of these structures, all of which call the same dependency.
fn experiment(
    structures: &[Structure],
    stubs: &Path,
    blocks: u32,
    seed: u64,
) -> Result<Value, Error> {
    let at = |name: &str| stubs.join(name).display().to_string();
    let https = json!({ "cert": at("cert.pem"), "key": at("key.pem") });
    let mut components = Map::new();
    components.insert(
        "dep".to_owned(),
        json!({ "mock": { "root": stubs, "https": https, "shards": 1 } }),
    );
    components.insert("other".to_owned(), json!({ "mock": { "shards": 1 } }));
    let (mut arms, mut links) = (Map::new(), Vec::new());
    for known in structures {
        let fixed = [
            format!("--work-ms={}", known.work_ms),
            format!("--seed={seed}"),
        ];
        let own = known.arguments.iter().map(|word| match *word {
            AUTHORITY => at("ca.pem"),
            word => word.to_owned(),
        });
        let arguments: Vec<String> = fixed.into_iter().chain(own).collect();
        components.insert(known.name.to_owned(), caller::component(&arguments)?);
        let load = json!({ "rate": format!("{}/s", known.rate) });
        arms.insert(
            known.name.to_owned(),
            json!({ "target": known.name, "load": load }),
        );
        links.push(format!("{} -> {}", known.name, known.link));
    }
    let delays = DELAYS_MS.map(|delay| format!("{delay}ms"));
    Ok(json!({
        "version": 1,
        "name": "slopes",
        "components": components,
        "scenario": [{ "name": "step", "get": "/", "check": { "status": 200 } }],
        "load": { "rate": "1/s", "connections": 200, "warmup": "100ms" },
        "arms": arms,
        "method": { "sensitivity": {
            "links": links, "delays": delays, "blocks": blocks, "hold": format!("{}s", HOLD_S),
        } },
    }))
}
