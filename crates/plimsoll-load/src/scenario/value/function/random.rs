//! `random(low, high)`, a whole number, both ends included; `random(hex, 16)`, text of so many characters. Both from the run's seed.

use super::{Arguments, Function};
use crate::scenario::memory::Memory;
use crate::scenario::value::number;

/// The longest text.
const LONGEST: usize = 65_536;

#[derive(Debug, Clone)]
pub(in crate::scenario) enum Random {
    Number {
        low: i64,
        /// How many numbers there are.
        count: u64,
    },
    Text {
        alphabet: &'static [u8],
        length: usize,
    },
}

const FORM: &str = "random(1, 100)` or `random(alphanumeric, 16)";

const ALPHABETS: [(&str, &[u8]); 4] = [
    (
        "alphanumeric",
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
    ),
    ("digits", b"0123456789"),
    ("hex", b"0123456789abcdef"),
    (
        "letters",
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    ),
];

pub(super) fn compile(arguments: Arguments<'_>) -> Result<Function, String> {
    arguments.count(2, 2, FORM)?;
    let Ok(low) = arguments.integer::<i64>(0) else {
        let alphabet = arguments
            .choice(0, &ALPHABETS)
            .map_err(|message| format!("{message}, or two whole numbers"))?;
        let length: usize = arguments.integer(1)?;
        if !(1..=LONGEST).contains(&length) {
            return Err(format!("a random text has 1 to {LONGEST} characters"));
        }
        return Ok(Function::Random(Random::Text { alphabet, length }));
    };
    let high: i64 = arguments.integer(1)?;
    let count = i128::from(high) - i128::from(low) + 1;
    match u64::try_from(count) {
        Ok(count) if count > 0 => Ok(Function::Random(Random::Number { low, count })),
        _ => Err(format!(
            "`random({low}, {high})` has nothing to choose from: write the lower end first"
        )),
    }
}

impl Random {
    pub(super) fn render(&self, memory: &mut Memory, out: &mut Vec<u8>) {
        let draw = memory.data();
        match *self {
            Self::Number { low, count } => {
                let value = i128::from(low) + i128::from(draw.below(count));
                if value < 0 {
                    out.push(b'-');
                }
                number(out, u64::try_from(value.unsigned_abs()).unwrap_or(u64::MAX));
            }
            Self::Text { alphabet, length } => {
                for _ in 0..length {
                    let chosen = usize::try_from(draw.below(alphabet.len() as u64))
                        .expect("invariant: below a usize");
                    out.push(alphabet[chosen]);
                }
            }
        }
    }
}
