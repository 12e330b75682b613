//! `contains text part`, `matches text regex`: a truth, or a block that is taken or not.

use super::{Failure, Helper, Invocation, Outcome, Prepare, Prepared};
use crate::java_regex::JavaRegex;
use crate::template::value::Value;

pub(super) const HELPERS: &[Helper] = &[
    Helper::new("contains", contains),
    Helper::new("matches", matches).preparing(Prepare::Regex),
];

fn contains<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let part = invocation.text(1, "what to look for")?;
    let says = match invocation.argument(0) {
        Value::Nothing => false,
        Value::Several(values) => values.iter().any(|value| *value == part),
        value => match value.items() {
            Some(items) if !matches!(value, Value::Path(_)) => {
                items.iter().any(|item| item.print() == part)
            }
            _ => value.print().contains(&part),
        },
    };
    invocation.decide(says)
}

fn matches<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let text = invocation.text(0, "the text")?;
    let says = match invocation.prepared {
        Prepared::Regex(regex) => regex.matches(&text)?,
        _ => {
            let regex = invocation.text(1, "the regular expression")?;
            JavaRegex::compile(&regex)
                .map_err(Failure::Own)?
                .matches(&text)?
        }
    };
    invocation.decide(says)
}
