//! A target against itself: a comparison must not find what is not there.

use super::Check;
use crate::alike::{self, Tally};
use crate::bar::Bar;
use crate::bench::{Bench, Error, Repetition};
use serde_json::{Value, json};

pub const CHECK: Check = Check {
    name: "same",
    about: "two arms on two equal mocks, compared; called different at most as often as promised",
    run,
};

/// Figures that are looked at.
const FIGURES: [&str; 2] = ["p50", "p99"];

/// Seconds of load of an arm in a block: 1,500 exchanges, of which fifteen lie beyond the p99. The shorter a block, the fewer are hit by a
/// stall of the machine; a comparison needs four of six that were not.
const LOAD_S: f64 = 1.5;
const WARMUP_S: f64 = 0.5;

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let (comparisons, blocks) = bench.pick((10, 6), (1, 2));
    let experiment = experiment(blocks);
    let seconds = f64::from(2 * blocks) * (WARMUP_S + LOAD_S + 1.0);
    let done = bench.repeat(
        "same",
        comparisons,
        || {
            let outcome = bench.run(&experiment, seconds)?;
            Ok(FIGURES.map(|figure| alike::verdict(&outcome, "two", figure)))
        },
        |found| format!("p50 {}, p99 {}", found[0], found[1]),
    )?;
    let bars = FIGURES.iter().enumerate().map(|(index, figure)| {
        let what = format!("{figure} over {comparisons} comparisons of {blocks} blocks");
        bar(what, index, &done)
    });
    Ok(bars.collect())
}

/// The bar of one figure over all comparisons.
fn bar(what: String, index: usize, done: &[Repetition<[String; 2]>]) -> Bar {
    let tally = Tally::of(index, done);
    if !tally.is_enough() {
        let measured = tally.words;
        return Bar::not_measured(what, format!("too few could be judged: {measured}"));
    }
    // At the nominal 5 %, two of ten or fewer have a probability of 98.8 %, one of eight or fewer 94 %.
    Bar::judged(
        what,
        "called different at most in a fifth of those judged",
        tally.words,
        tally.different * 5 <= tally.judged,
    )
}

fn experiment(blocks: u32) -> Value {
    json!({
        "version": 1,
        "name": "same",
        "components": { "one": { "mock": {} }, "two": { "mock": {} } },
        "scenario": [{ "name": "step", "get": "/json/valid" }],
        "load": { "rate": "1000/s", "warmup": format!("{WARMUP_S}s"), "duration": format!("{LOAD_S}s") },
        "arms": { "one": { "target": "one" }, "two": { "target": "two" } },
        "method": { "compare": { "baseline": "one", "blocks": blocks } },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar::Verdict;
    use crate::witness::Seen;

    #[test]
    fn a_fifth_of_those_judged_may_be_called_different() {
        let check = |different: usize, alike: usize, invalid: usize, expected: Verdict| {
            let verdicts = [
                ("worse", different),
                ("equivalent", alike),
                ("invalid", invalid),
            ];
            let done: Vec<Repetition<[String; 2]>> = verdicts
                .iter()
                .flat_map(|(word, count)| std::iter::repeat_n(word, *count))
                .map(|word| Repetition {
                    found: Ok([(*word).to_owned(), String::new()]),
                    words: String::new(),
                    seen: Seen::default(),
                })
                .collect();
            assert_eq!(bar("p50".to_owned(), 0, &done).verdict, expected);
        };
        check(2, 8, 0, Verdict::Held);
        check(3, 7, 0, Verdict::Failed);
        check(2, 7, 1, Verdict::Failed);
        check(1, 7, 2, Verdict::Held);
        check(0, 7, 3, Verdict::NotMeasured);
    }
}
