//! How values are printed: as Java prints them, since templates are written against what it shows.

use super::{Origin, Value};
use crate::java;
use crate::java::time_format;
use crate::request::multipart::MultipartPart;
use serde_json::Value as Json;
use std::borrow::Cow;

/// The text of a value.
pub fn text<'v>(value: &'v Value<'_>) -> Cow<'v, str> {
    match value {
        Value::Nothing | Value::Model(_) => Cow::Borrowed(""),
        Value::Bool(value) => Cow::Borrowed(if *value { "true" } else { "false" }),
        Value::Integer(number) => Cow::Owned(number.to_string()),
        Value::Decimal(number) => Cow::Owned(decimal(*number)),
        Value::Text(text) | Value::Shown(text) => Cow::Borrowed(text),
        Value::Several(values) => Cow::Borrowed(values.first().map_or("", |first| first)),
        Value::Path(path) => Cow::Borrowed(path),
        Value::Body(request) => request.body.text(),
        Value::Json(json, origin) => Cow::Owned(match (origin, &**json) {
            (Origin::Found, Json::Object(_)) => java::json::pretty(&without_nulls(json)),
            (Origin::Found | Origin::Within, Json::Array(_)) => json.to_string(),
            (origin, json) => printed(json, *origin),
        }),
        Value::List(items) => Cow::Owned(list(items)),
        Value::Map(entries) => Cow::Owned(map(entries)),
        Value::Part(part) => Cow::Owned(self::part(part)),
        Value::PartFields(part) => Cow::Owned(part_fields(part)),
        Value::Node(node) => Cow::Borrowed(&node.shown),
        Value::Nodes(nodes) => Cow::Borrowed(nodes.first().map_or("", |node| &node.shown)),
        Value::Moment(moment, pattern) => {
            Cow::Owned(time_format::show(moment, pattern.as_deref()).unwrap_or_else(|error| error))
        }
    }
}

/// A part of a multipart body as WireMock's model of it prints.
fn part(part: &MultipartPart) -> String {
    let (name, fields) = (part.name().unwrap_or_default(), part_fields(part));
    format!(
        "[name='{name}', headers={fields}, body={}]",
        part.body.text()
    )
}

/// A part's header fields as a map.
fn part_fields(part: &MultipartPart) -> String {
    let entry =
        |(name, value): (String, &[u8])| format!("{name}={}", String::from_utf8_lossy(value));
    let entries: Vec<String> = part.first_values().into_iter().map(entry).collect();
    format!("{{{}}}", entries.join(", "))
}

/// A number as Java's `Double.toString` writes it.
pub fn decimal(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 || (1e-3..1e7).contains(&size) {
        let text = number.to_string();
        return if text.contains('.') {
            text
        } else {
            format!("{text}.0")
        };
    }
    if !number.is_finite() {
        return if number.is_nan() {
            "NaN".to_owned()
        } else {
            format!("{}Infinity", if number < 0.0 { "-" } else { "" })
        };
    }
    let text = format!("{number:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let point = if mantissa.contains('.') { "" } else { ".0" };
    format!("{mantissa}{point}E{exponent}")
}

/// WireMock writes no property that is `null`.
pub fn without_nulls(json: &Json) -> Json {
    match json {
        Json::Object(map) => {
            let kept = map.iter().filter(|(_, value)| !value.is_null());
            let kept = kept.map(|(name, value)| (name.clone(), without_nulls(value)));
            Json::Object(kept.collect())
        }
        Json::Array(items) => items.iter().map(without_nulls).collect(),
        scalar => scalar.clone(),
    }
}

/// JSON as Java prints maps and lists; lists of what `jsonPath` found print as JSON there.
fn printed(json: &Json, origin: Origin) -> String {
    match json {
        Json::Array(_) if origin != Origin::Parsed => json.to_string(),
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| printed(item, origin)).collect();
            format!("[{}]", items.join(", "))
        }
        Json::Object(map) => {
            let entries = map
                .iter()
                .map(|(name, value)| format!("{name}={}", printed(value, origin)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        Json::String(text) => text.clone(),
        Json::Number(number) if number.is_f64() => decimal(number.as_f64().unwrap_or(f64::NAN)),
        scalar => scalar.to_string(),
    }
}

fn list(items: &[Value<'_>]) -> String {
    let item = |item: &Value<'_>| match item {
        Value::Nothing => "null".to_owned(),
        item => item.print().into_owned(),
    };
    format!(
        "[{}]",
        items.iter().map(item).collect::<Vec<_>>().join(", ")
    )
}

fn map(entries: &[(Cow<'_, str>, Value<'_>)]) -> String {
    let entry = |(name, value): &(Cow<'_, str>, Value<'_>)| format!("{name}={}", value.print());
    let entries: Vec<String> = entries.iter().map(entry).collect();
    format!("{{{}}}", entries.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_those_of_java() {
        for (number, expected) in [
            (1.5, "1.5"),
            (6.0, "6.0"),
            (0.0, "0.0"),
            (1e7, "1.0E7"),
            (12_345_678.9, "1.23456789E7"),
            (9_999_999.0, "9999999.0"),
            (1e-3, "0.001"),
            (1.5e-4, "1.5E-4"),
            (-2.5, "-2.5"),
        ] {
            assert_eq!(decimal(number), expected);
        }
    }
}
