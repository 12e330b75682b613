//! `trim`, `substring text from to`, `replace text old new`, `cut text part`, `abbreviate text length`, `defaultIfEmpty text other`.

use super::{Failure, Helper, Invocation, Outcome, integer};
use crate::template::value::Value;

pub(super) const HELPERS: &[Helper] = &[
    Helper::new("trim", trim),
    Helper::new("substring", substring),
    Helper::new("replace", replace),
    Helper::new("cut", cut),
    Helper::new("abbreviate", abbreviate),
    Helper::new("defaultIfEmpty", default_if_empty),
];

fn trim<'a>(mut invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let subject = invocation.subject()?;
    if subject.is_nothing() {
        return Err(Failure::Own("there is nothing to trim".to_owned()));
    }
    Ok(Value::text(subject.print().trim()))
}

/// Positions count characters, from 0; the end is not part of it.
fn substring<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let text: Vec<char> = invocation.argument(0).print().chars().collect();
    let position = |index: usize| {
        usize::try_from(integer(&invocation.argument(index))?)
            .map_err(|_| Failure::Own("a position is negative".to_owned()))
    };
    let from = position(1)?;
    let to = match invocation.arguments.len() {
        0..=2 => text.len(),
        _ => position(2)?,
    };
    let part = text.get(from..to);
    let part = part.ok_or_else(|| {
        Failure::Own(format!(
            "{from} to {to} is not within {} characters",
            text.len()
        ))
    })?;
    Ok(Value::text(part.iter().collect::<String>()))
}

fn replace<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let (old, new) = (
        invocation.text(1, "what to replace")?,
        invocation.argument(2),
    );
    let text = invocation.argument(0);
    let (text, new) = (text.print(), new.print());
    // An empty text stands before and behind each character.
    let places = if old.is_empty() {
        text.len() + 1
    } else {
        memchr::memmem::find_iter(text.as_bytes(), old.as_bytes()).count()
    };
    invocation.renderer.make(places.saturating_mul(new.len()))?;
    Ok(Value::text(text.replace(&old, &new)))
}

fn cut<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let part = match invocation.argument(1) {
        Value::Nothing => " ".to_owned(),
        part => part.print().into_owned(),
    };
    Ok(Value::text(
        invocation.argument(0).print().replace(&part, ""),
    ))
}

/// Three of the characters that remain are dots.
fn abbreviate<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let text = invocation.argument(0).print().into_owned();
    let most = usize::try_from(integer(&invocation.argument(1))?).unwrap_or(0);
    if text.chars().count() <= most {
        return Ok(Value::text(text));
    }
    let kept = most.checked_sub(3).filter(|kept| *kept > 0);
    let kept = kept.ok_or_else(|| Failure::Own("the length is at least 4".to_owned()))?;
    let start: String = text.chars().take(kept).collect();
    Ok(Value::text(format!("{start}...")))
}

fn default_if_empty<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let value = invocation.argument(0);
    Ok(if value.is_truthy() {
        value
    } else {
        invocation.argument(1)
    })
}
