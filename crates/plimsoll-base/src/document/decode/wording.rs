//! The words in which what was found is refused: what it is, what is wanted in its place, what was probably meant.

use deserr::{IntoValue, Value, ValueKind};

/// Advice in place of `written`: "did you mean `x`?" when one of `accepted` is close, else all that is accepted.
#[must_use]
pub fn suggestion(written: &str, accepted: &[String]) -> String {
    match nearest(written, accepted) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None if accepted.is_empty() => "nothing can be written here".to_owned(),
        None => format!("write {}", list(accepted)),
    }
}

/// The one of `accepted` that `written` is most likely a misspelling of.
#[must_use]
pub fn nearest<'a>(written: &str, accepted: &'a [String]) -> Option<&'a str> {
    let length = written.chars().count();
    // A distance is no less than the difference of lengths, which costs nothing to know.
    let near = accepted.iter().filter(|candidate| {
        let accepted = candidate.chars().count();
        length.abs_diff(accepted) <= accepted.div_ceil(3)
    });
    let distances =
        near.map(|candidate| (strsim::damerau_levenshtein(written, candidate), candidate));
    distances
        .filter(|(distance, candidate)| *distance <= candidate.chars().count().div_ceil(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate.as_str())
}

/// "`a`, `b` or `c`".
#[must_use]
pub fn list(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        None => "nothing".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}

/// A value that was found, in words: "the number `5`", "a list".
pub(in crate::document) fn describe<V: IntoValue>(value: &Value<V>) -> String {
    const SHOWN: usize = 40;
    match value {
        Value::Null => "no value".to_owned(),
        Value::Boolean(value) => format!("`{value}`"),
        Value::Integer(value) => format!("the number `{value}`"),
        Value::NegativeInteger(value) => format!("the number `{value}`"),
        Value::Float(value) => format!("the number `{value}`"),
        Value::String(text) if text.chars().count() > SHOWN => {
            format!(
                "the text `{}…`",
                text.chars().take(SHOWN).collect::<String>()
            )
        }
        Value::String(text) => format!("the text `{text}`"),
        Value::Sequence(_) => "a list".to_owned(),
        Value::Map(_) => "a mapping".to_owned(),
    }
}

pub(super) fn wanted<V: IntoValue>(accepted: &[ValueKind], actual: &Value<V>) -> String {
    let phrase = |kind: &ValueKind| match kind {
        ValueKind::Null => "`null`".to_owned(),
        ValueKind::Boolean => "`true` or `false`".to_owned(),
        ValueKind::Integer => match actual {
            Value::String(text) if text.parse::<u64>().is_ok() => {
                format!("it without quotes, `{text}`")
            }
            _ => "a whole number such as `10`".to_owned(),
        },
        ValueKind::NegativeInteger => "a negative number such as `-10`".to_owned(),
        ValueKind::Float => "a number such as `0.5`".to_owned(),
        ValueKind::String => match actual {
            Value::Boolean(value) => format!("text in quotes, `\"{value}\"`"),
            Value::Integer(value) => format!("text in quotes, `\"{value}\"`"),
            Value::NegativeInteger(value) => format!("text in quotes, `\"{value}\"`"),
            Value::Float(value) => format!("text in quotes, `\"{value}\"`"),
            _ => "text".to_owned(),
        },
        ValueKind::Sequence => "a list, `[…]`".to_owned(),
        ValueKind::Map => "a mapping, `{ key: value }`".to_owned(),
    };
    if accepted.contains(&ValueKind::Float) {
        return phrase(&ValueKind::Float);
    }
    accepted.iter().map(phrase).collect::<Vec<_>>().join(" or ")
}

/// `deserr` words numbers beyond their type's range itself, without saying what to write.
pub(super) fn reword(message: String) -> String {
    let parts: Vec<&str> = message.split('`').collect();
    match parts[..] {
        [
            "value: ",
            value,
            " is too large to be deserialized, maximum value authorized is ",
            limit,
            "",
        ] => {
            format!("`{value}` is too large: write at most {limit}")
        }
        [
            "value: ",
            value,
            " is too small to be deserialized, minimum value authorized is ",
            limit,
            "",
        ] => {
            format!("`{value}` is too small: write at least {limit}")
        }
        _ => message,
    }
}
