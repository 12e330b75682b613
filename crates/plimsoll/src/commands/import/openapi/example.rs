//! A value that fits a schema: its example or default, or one that is made up.

use super::description::Description;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// How deep a made-up value goes: schemas may contain themselves.
const DEEPEST: usize = 8;

/// A value and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    pub value: Value,
    /// Whether any part of it is made up.
    pub made_up: bool,
    /// Whether optional properties without an example are missing.
    pub partial: bool,
}

impl Example {
    fn given(description: &Description, value: &Value) -> Result<Self, String> {
        description.spend_value(value)?;
        Ok(Self {
            value: value.clone(),
            made_up: false,
            partial: false,
        })
    }

    fn made_up(value: Value) -> Self {
        Self {
            value,
            made_up: true,
            partial: false,
        }
    }
}

/// The example of something that has a schema and perhaps examples beside it: a parameter or the content of a body.
///
/// # Errors
/// A reference that cannot be followed.
pub fn of(description: &Description, holder: &Value) -> Result<Example, String> {
    if let Some(given) = beside(description, holder)? {
        return Ok(given);
    }
    match holder.get("schema") {
        Some(schema) => of_schema(description, schema, 0),
        None => Ok(Example::made_up(json!("text"))),
    }
}

/// Whether there is one that is not made up.
pub fn is_given(description: &Description, holder: &Value) -> bool {
    of(description, holder).is_ok_and(|example| !example.made_up)
}

/// `example`, or the first of `examples`.
fn beside(description: &Description, holder: &Value) -> Result<Option<Example>, String> {
    if let Some(example) = holder.get("example") {
        return Example::given(description, example).map(Some);
    }
    let first = match holder.get("examples") {
        Some(Value::Object(named)) => named.values().next(),
        _ => None,
    };
    let Some(first) = first else {
        return Ok(None);
    };
    let value = description.resolve(first)?.get("value");
    value
        .map(|value| Example::given(description, value))
        .transpose()
}

fn of_schema(description: &Description, schema: &Value, depth: usize) -> Result<Example, String> {
    description.spend(1)?;
    let schema = description.resolve(schema)?;
    let first_example = schema
        .get("examples")
        .and_then(Value::as_array)
        .and_then(|all| all.first());
    let given = [
        schema.get("example"),
        first_example,
        schema.get("const"),
        schema.get("default"),
    ];
    if let Some(given) = given.into_iter().flatten().next() {
        return Example::given(description, given);
    }
    if let Some(first) = schema
        .get("enum")
        .and_then(Value::as_array)
        .and_then(|values| values.first())
    {
        return Example::given(description, first);
    }
    if depth >= DEEPEST {
        return Ok(Example::made_up(Value::Null));
    }
    if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
        return all_of(description, schema, parts, depth);
    }
    for choice in ["oneOf", "anyOf"] {
        let first = schema
            .get(choice)
            .and_then(Value::as_array)
            .and_then(|choices| choices.first());
        if let Some(first) = first {
            return of_schema(description, first, depth + 1);
        }
    }
    match kind(schema) {
        "object" => object(description, schema, depth),
        "array" => {
            let item = schema
                .get("items")
                .map(|items| of_schema(description, items, depth + 1))
                .transpose()?;
            let item = item.unwrap_or_else(|| Example::made_up(Value::Null));
            Ok(Example {
                value: json!([item.value]),
                made_up: item.made_up,
                partial: item.partial,
            })
        }
        "integer" => Ok(Example::made_up(
            json!(bounded(schema, 1.0).round())
                .as_f64()
                .map_or(json!(1), whole),
        )),
        "number" => Ok(Example::made_up(json!(bounded(schema, 1.5)))),
        "boolean" => Ok(Example::made_up(json!(true))),
        "null" => Example::given(description, &Value::Null),
        _ => {
            let text = text(schema);
            description.spend_text(text.len())?;
            Ok(Example::made_up(json!(text)))
        }
    }
}

/// The type of a schema; where several are allowed, the first that is not null.
fn kind(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            kinds.find(|kind| *kind != "null").unwrap_or("null")
        }
        _ if schema.get("properties").is_some() => "object",
        _ if schema.get("items").is_some() => "array",
        _ => "string",
    }
}

/// Properties that are required, and those that have an example.
fn object(description: &Description, schema: &Value, depth: usize) -> Result<Example, String> {
    let required: HashSet<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let (mut made_up, mut partial) = (false, false);
    let mut object = Map::new();
    for (name, property) in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        if description.resolve(property)?.get("readOnly") == Some(&Value::Bool(true)) {
            continue;
        }
        let example = of_schema(description, property, depth + 1)?;
        description.spend_text(name.len())?;
        if required.contains(name.as_str()) || !example.made_up {
            made_up |= example.made_up;
            partial |= example.partial;
            object.insert(name.clone(), example.value);
        } else {
            partial = true;
        }
    }
    Ok(Example {
        value: Value::Object(object),
        made_up,
        partial,
    })
}

/// All parts together: the properties of each.
fn all_of(
    description: &Description,
    schema: &Value,
    parts: &[Value],
    depth: usize,
) -> Result<Example, String> {
    let mut merged = Example {
        value: json!({}),
        made_up: false,
        partial: false,
    };
    let own = schema
        .get("properties")
        .map(|_| object(description, schema, depth))
        .transpose()?;
    for part in parts
        .iter()
        .map(|part| of_schema(description, part, depth + 1))
        .chain(own.map(Ok))
    {
        let part = part?;
        merged.made_up |= part.made_up;
        merged.partial |= part.partial;
        match (&mut merged.value, part.value) {
            (Value::Object(all), Value::Object(more)) => all.extend(more),
            (value, other) => *value = other,
        }
    }
    Ok(merged)
}

/// A number within the schema's bounds, this one if it is. An exclusive bound is a number (3.1), or a word beside the inclusive one (3.0).
fn bounded(schema: &Value, wanted: f64) -> f64 {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let inward = |key: &str| match schema.get(key) {
        Some(Value::Bool(true)) => 1.0,
        _ => 0.0,
    };
    let least = [
        bound("minimum").map(|least| least + inward("exclusiveMinimum")),
        bound("exclusiveMinimum").map(|least| least + 1.0),
    ];
    let most = [
        bound("maximum").map(|most| most - inward("exclusiveMaximum")),
        bound("exclusiveMaximum").map(|most| most - 1.0),
    ];
    let value = least.into_iter().flatten().fold(wanted, f64::max);
    most.into_iter().flatten().fold(value, f64::min)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "`as` saturates, at numbers that no example needs"
)]
fn whole(value: f64) -> Value {
    json!(value as i64)
}

/// A text of the schema's format and length.
fn text(schema: &Value) -> String {
    let sample = match schema.get("format").and_then(Value::as_str) {
        Some("uuid") => return "00000000-0000-4000-8000-000000000001".to_owned(),
        Some("date") => return "2026-01-02".to_owned(),
        Some("date-time") => return "2026-01-02T03:04:05Z".to_owned(),
        Some("email") => return "someone@example.com".to_owned(),
        Some("uri" | "url") => return "https://example.com/".to_owned(),
        Some("ipv4") => return "192.0.2.1".to_owned(),
        Some("byte") => return "dGV4dA==".to_owned(),
        _ => "text",
    };
    let length = |key: &str| {
        schema
            .get(key)
            .and_then(Value::as_u64)
            .and_then(|length| usize::try_from(length).ok())
    };
    /// No example is longer, whatever a schema asks for.
    const LONGEST: usize = 1000;
    let least = length("minLength").unwrap_or(0).min(LONGEST);
    let most = length("maxLength").unwrap_or(LONGEST);
    sample
        .chars()
        .cycle()
        .take(sample.len().max(least).min(most))
        .collect()
}
