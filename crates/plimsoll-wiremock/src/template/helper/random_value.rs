//! `randomValue length= type= uppercase=`: letters, digits, symbols or a UUID.

use super::{Failure, Helper, Invocation, Outcome, integer};
use crate::stub_id::StubId;
use crate::template::value::Value;

/// Characters of one value.
const LONGEST: i64 = 1_000_000;
/// Characters that are drawn in one step.
const CHARACTERS_A_STEP: usize = 16;
const DEFAULT_LENGTH: i64 = 36;

const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";
const DIGITS: &str = "0123456789";
const SYMBOLS: &str = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

pub(super) const HELPERS: &[Helper] = &[Helper::new("randomValue", random_value)];

fn random_value<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let kind = invocation.option("type");
    let kind = kind.map_or_else(
        || "ALPHANUMERIC".to_owned(),
        |kind| kind.print().into_owned(),
    );
    let length = invocation
        .option("length")
        .map_or(Ok(DEFAULT_LENGTH), integer)?;
    if !(0..=LONGEST).contains(&length) {
        return Err(Failure::Own(format!("`length` is from 0 to {LONGEST}")));
    }
    let bytes = usize::try_from(length).unwrap_or_default();
    invocation.renderer.make(bytes)?;
    invocation.renderer.step(bytes / CHARACTERS_A_STEP)?;
    let says = |name: &str, default| invocation.option(name).map_or(default, Value::is_truthy);
    let mut draw = invocation.renderer.scopes.model().draw.borrow_mut();
    let text = if kind == "UUID" {
        let bits = (u128::from(draw.bits()) << 64) | u128::from(draw.bits());
        StubId::from_bits(bits).to_string()
    } else {
        let characters = alphabet(&kind);
        let mut one = || {
            let index = usize::try_from(draw.below(characters.len() as u64)).unwrap_or(0);
            char::from(characters[index])
        };
        (0..length).map(|_| one()).collect()
    };
    Ok(Value::text(if says("uppercase", false) {
        text.to_uppercase()
    } else {
        text
    }))
}

/// The characters of a kind; letters are lower-case.
fn alphabet(kind: &str) -> Vec<u8> {
    let sets: &[&str] = match kind {
        "ALPHABETIC" => &[LETTERS],
        "NUMERIC" => &[DIGITS],
        "ALPHANUMERIC_AND_SYMBOLS" => &[LETTERS, DIGITS, SYMBOLS],
        "HEXADECIMAL" => &[DIGITS, "abcdef"],
        // What WireMock does not know it takes for this, too.
        _ => &[LETTERS, DIGITS],
    };
    sets.concat().into_bytes()
}
