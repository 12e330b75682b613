//! `contains text part`, `matches text regex`: a truth, or a block that is taken or not.

use super::{Failure, Helper, Invocation, Outcome, Prepare, Prepared, error_text};
use crate::java::regex::JavaRegex;
use crate::template::value::Value;

pub(super) const HELPERS: &[Helper] = &[
    Helper::new("contains", contains),
    Helper::new("matches", matches).preparing(Prepare::Regex),
];

fn contains<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    if invocation.arguments.len() < 2 {
        let message =
            "You must specify the string or array to be matched and the regular expression";
        return Ok(error_text(message));
    }
    let part = invocation.argument(1);
    if part.is_nothing() {
        // As in WireMock, where a block says so, too.
        return Ok(Value::Bool(false));
    }
    let part = part.print();
    let says = match invocation.argument(0) {
        Value::Nothing => false,
        Value::Several(values) => values.contains(&part),
        value => match value.items() {
            Some(items) if !matches!(value, Value::Path(_)) => {
                items.iter().any(|item| item.print() == part)
            }
            _ => value.print().contains(&*part),
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
