//! Comparisons of arms that are alike: how often a figure is called different.

use crate::bench::{Outcome, Repetition};
use serde_json::Value;

/// The verdict of a comparison on a figure of an arm.
pub fn verdict(outcome: &Outcome, arm: &str, figure: &str) -> String {
    let pointer = format!("/arms/{arm}/added/{figure}/verdict");
    let word = outcome.summary.pointer(&pointer).and_then(Value::as_str);
    word.unwrap_or("none").to_owned()
}

/// How often a figure was called different.
pub struct Tally {
    pub different: usize,
    /// Comparisons that could be judged.
    pub judged: usize,
    pub all: usize,
    /// Both, with each verdict.
    pub words: String,
}

impl Tally {
    /// Of the figure at this place of each comparison's.
    pub fn of<const N: usize>(index: usize, done: &[Repetition<[String; N]>]) -> Self {
        let verdicts = done
            .iter()
            .map(|one| one.found.as_ref().map_or("none", |found| &found[index]));
        let count = |words: &[&str]| verdicts.clone().filter(|v| words.contains(v)).count();
        let different = count(&["worse", "improved"]);
        let judged = done.len() - count(&["invalid", "none"]);
        let words: Vec<String> = verdicts
            .clone()
            .zip(done)
            .map(|(verdict, one)| format!("{verdict}{}", one.seen.aside()))
            .collect();
        Self {
            different,
            judged,
            all: done.len(),
            words: format!("{different} of {judged} judged: {}", words.join(", ")),
        }
    }

    /// Whether enough could be judged to say something: four of five.
    pub fn is_enough(&self) -> bool {
        self.judged * 5 >= self.all * 4
    }
}
