//! A target against itself with a sham fault in one arm: to inject nothing must change no figure.

use super::Check;
use crate::alike::{self, Tally};
use crate::bar::Bar;
use crate::bench::{Bench, Error, Repetition};
use serde_json::{Value, json};

pub const CHECK: Check = Check {
    name: "steady",
    about: "one target, compared with itself under a sham fault; called different at most as often as promised",
    run,
};

/// Figures that are looked at.
const FIGURES: [&str; 4] = ["mean", "p50", "p95", "p99"];

/// Seconds of load of an arm in a block: 1,000 exchanges, of which ten lie beyond the p99.
const LOAD_S: f64 = 1.0;
const WARMUP_S: f64 = 0.2;
/// How often arms that are alike may be called different.
const PROMISED: f64 = 0.05;
/// With which probability an instrument that keeps the promise must hold.
const CERTAIN: f64 = 0.98;

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let (comparisons, blocks) = bench.pick((40, 6), (1, 3));
    let experiment = experiment(blocks);
    let seconds = f64::from(2 * blocks) * (WARMUP_S + LOAD_S + 1.0);
    let done = bench.repeat(
        "steady",
        comparisons,
        || {
            let outcome = bench.run(&experiment, seconds)?;
            Ok(FIGURES.map(|figure| alike::verdict(&outcome, "sham", figure)))
        },
        |found| format!("{} {}", FIGURES.join("/"), found.join(", ")),
    )?;
    let bars = FIGURES.iter().enumerate().map(|(index, figure)| {
        let what = format!("{figure} over {comparisons} comparisons of {blocks} blocks");
        bar(what, index, &done)
    });
    Ok(bars.collect())
}

/// The bar of one figure over all comparisons.
fn bar(what: String, index: usize, done: &[Repetition<[String; 4]>]) -> Bar {
    let tally = Tally::of(index, done);
    if !tally.is_enough() {
        let measured = tally.words;
        return Bar::not_measured(what, format!("too few could be judged: {measured}"));
    }
    let most = most(tally.judged);
    let share = 100.0 * PROMISED;
    Bar::judged(
        what,
        format!("called different no more often than {share:.0} % can explain: at most {most}"),
        tally.words,
        tally.different <= most,
    )
}

/// So many of these comparisons or fewer are called different with that certainty, if each is with the promised probability (binomial distribution).
fn most(comparisons: usize) -> usize {
    let mut exactly = (0..comparisons).fold(1.0, |product, _| product * (1.0 - PROMISED));
    let (mut at_most, mut number, mut left) = (exactly, 0, comparisons);
    while at_most < CERTAIN && left > 0 {
        number += 1;
        #[expect(clippy::cast_precision_loss, reason = "a number of comparisons")]
        let ways = left as f64 / number as f64;
        left -= 1;
        exactly *= ways * PROMISED / (1.0 - PROMISED);
        at_most += exactly;
    }
    number
}

fn experiment(blocks: u32) -> Value {
    json!({
        "version": 1,
        "name": "steady",
        "components": { "target": { "mock": {} } },
        "scenario": [{ "name": "step", "get": "/json/valid" }],
        "load": { "rate": "1000/s", "warmup": format!("{WARMUP_S}s"), "duration": format!("{LOAD_S}s") },
        "arms": { "bare": { "target": "target" }, "sham": { "target": "target" } },
        "faults": { "sham": { "nothing": true, "at": "300ms", "for": "400ms", "arms": ["sham"] } },
        "method": { "compare": { "baseline": "bare", "blocks": blocks } },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_chance_explains() {
        let check = |comparisons, expected| assert_eq!(most(comparisons), expected);
        // P(at most 5 of 40) = 0.986, P(at most 4) = 0.952; of 32: 0.979 for 4, 0.994 for 5; one of one happens.
        check(40, 5);
        check(32, 5);
        check(1, 1);
        check(0, 0);
    }
}
