//! The cost of strangers' files to the commands that read them: for each format an input that is deep, wide or long, once as it is and once
//! counted by callgrind, each beside a harmless file of the same format.

mod inputs;

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error};
use crate::cost_of::{self, Cost};
use crate::interrupt;
use inputs::Input;

pub const CHECK: Check = Check {
    name: "adversarial-files",
    about: "deep, wide and long files to `validate`, `import` and the gateway: their memory and their instructions",
    run,
};

/// Bytes of an input, about.
const SIZES: (usize, usize) = (1_000_000, 100_000);

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let size = bench.pick(SIZES.0, SIZES.1);
    let inputs = inputs::all(size);
    fn what(input: &Input) -> &str {
        &input.what
    }
    let cost = |input: &Input| cost(bench, input);
    Ok(cost_of::bars(bench, CHECK.name, inputs, what, cost))
}

fn cost(bench: &Bench, input: &Input) -> Result<Cost, Error> {
    if interrupt::requested() {
        return Err(Error::Interrupted);
    }
    let words = input.reader.words(bench, &input.text)?;
    let harmless = input.reader.words(bench, input.reader.harmless())?;
    let [words, harmless] = [&words, &harmless]
        .map(|words| -> Vec<&str> { words.iter().map(String::as_str).collect() });
    cost_of::command(bench, input.text.len(), &words, &harmless)
}
