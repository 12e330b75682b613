//! The same against the same: a comparison must not find what is not there.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Outcome, Trouble};
use serde_json::{Value, json};

pub const CHECK: Check = Check {
    name: "same",
    about: "two arms on two equal mocks, compared; called different at most as often as promised",
    run,
};

/// Figures that are looked at.
const FIGURES: [&str; 2] = ["p50", "p99"];

fn run(bench: &Bench) -> Result<Vec<Bar>, Trouble> {
    let (comparisons, blocks, seconds) = bench.pick((10, 6, 4), (1, 2, 1));
    let mut found = Vec::new();
    for _ in 0..comparisons {
        let experiment = experiment(blocks, seconds);
        let outcome = bench.run(&experiment, f64::from(2 * blocks * (seconds + 3)))?;
        found.push(FIGURES.map(|figure| difference(&outcome, figure)));
    }
    let bar = |(index, figure): (usize, &&str)| {
        let verdicts: Vec<&str> = found.iter().map(|row| row[index].as_str()).collect();
        let different = verdicts
            .iter()
            .filter(|word| matches!(**word, "worse" | "improved"))
            .count();
        let what = format!("{figure} over {comparisons} comparisons of {blocks} blocks");
        let judged = verdicts
            .iter()
            .filter(|word| !matches!(**word, "invalid" | "none"))
            .count();
        let measured = format!("{different} of {judged} judged: {}", verdicts.join(", "));
        if judged * 2 < verdicts.len() {
            return Bar::not_measured(what, format!("too few could be judged: {measured}"));
        }
        // Two of ten or fewer has a probability of 98.8 % at the nominal 5 %.
        Bar::judged(
            what,
            "called different at most 2 of 10",
            measured,
            different <= 2,
        )
    };
    Ok(FIGURES.iter().enumerate().map(bar).collect())
}

fn experiment(blocks: u32, seconds: u32) -> Value {
    json!({
        "version": 1,
        "name": "same",
        "components": { "one": { "mock": {} }, "two": { "mock": {} } },
        "scenario": [{ "name": "step", "get": "/json/valid" }],
        "load": { "rate": "1000/s", "warmup": "1s", "duration": format!("{seconds}s") },
        "arms": { "one": { "target": "one" }, "two": { "target": "two" } },
        "method": { "compare": { "baseline": "one", "blocks": blocks } },
    })
}

fn difference(outcome: &Outcome, figure: &str) -> String {
    let pointer = format!("/arms/two/added/{figure}/verdict");
    let word = outcome.summary.pointer(&pointer).and_then(Value::as_str);
    word.unwrap_or("none").to_owned()
}
