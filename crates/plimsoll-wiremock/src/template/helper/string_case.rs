//! `upper`, `lower`, `capitalize fully=`, `capitalizeFirst`, `slugify`, `yesno`: texts in another case.

use super::{Helper, Invocation, Outcome};
use crate::template::value::Value;

pub(super) const HELPERS: &[Helper] = &[
    Helper::new("upper", |i| change(i, |text| text.to_uppercase())),
    Helper::new("lower", |i| change(i, |text| text.to_lowercase())),
    Helper::new("capitalizeFirst", |i| change(i, first_up)),
    Helper::new("capitalize", capitalize),
    Helper::new("slugify", |i| change(i, slug)),
    Helper::new("yesno", yes_no),
];

fn change<'a>(mut invocation: Invocation<'_, 'a>, change: fn(&str) -> String) -> Outcome<'a> {
    let subject = invocation.subject()?;
    Ok(Value::text(change(&subject.print())))
}

fn capitalize<'a>(mut invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let fully = invocation.option("fully").is_some_and(Value::is_truthy);
    let text = invocation.subject()?.print().into_owned();
    let text = if fully { text.to_lowercase() } else { text };
    let words = text.split_inclusive(char::is_whitespace).map(first_up);
    Ok(Value::text(words.collect::<String>()))
}

fn first_up(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(characters).collect()
    })
}

fn slug(text: &str) -> String {
    let is_kept = |c: &char| c.is_alphanumeric() || c.is_whitespace() || *c == '-';
    let kept: String = text.trim().to_lowercase().chars().filter(is_kept).collect();
    kept.replace(char::is_whitespace, "-")
}

fn yes_no<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let (option, default) = match invocation.argument(0) {
        Value::Nothing => ("maybe", "maybe"),
        value if value.is_truthy() => ("yes", "yes"),
        _ => ("no", "no"),
    };
    let own = invocation.option(option).cloned();
    Ok(own.unwrap_or_else(|| Value::text(default)))
}
