//! `parseJson text 'name'`, `toJson value`, `formatJson text format='pretty'|'compact'`.

use super::{Failure, Helper, Invocation, Outcome};
use crate::document::json::may_be_tree;
use crate::java;
use crate::template::value::print::without_nulls;
use crate::template::value::{Origin, Value};
use serde_json::Value as Json;

pub(super) const HELPERS: &[Helper] = &[
    Helper::new("parseJson", parse),
    Helper::new("toJson", to_json),
    Helper::new("formatJson", format),
];

/// With a name the value is assigned, else it is given.
fn parse<'a>(mut invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let (text, name) = match invocation.block {
        Some(block) => {
            let scope = invocation.here();
            (invocation.body(block, scope)?, invocation.argument(0))
        }
        None => (invocation.text(0, "the text")?, invocation.argument(1)),
    };
    let value = Value::of_json(json(&text)?, Origin::Parsed);
    if name.is_nothing() {
        return Ok(value);
    }
    let name = name.print().into_owned();
    invocation.renderer.scopes.assign(&name, value);
    Ok(Value::Nothing)
}

fn to_json<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    Ok(match invocation.argument(0) {
        Value::Nothing => Value::Nothing,
        value => Value::text(java::json::pretty(&without_nulls(&value.to_json()))),
    })
}

fn format<'a>(mut invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let json = json(&invocation.subject()?.print())?;
    let format = invocation.option("format");
    let compact = format.is_some_and(|format| format.print() == "compact");
    Ok(Value::text(if compact {
        json.to_string()
    } else {
        java::json::pretty(&json)
    }))
}

fn json(text: &str) -> Result<Json, Failure> {
    may_be_tree(text.as_bytes())?;
    serde_json::from_str(text).map_err(|error| Failure::Own(format!("not JSON: {error}")))
}
