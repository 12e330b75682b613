//! `jsonPath json 'path' default=`: what a JSONPath finds; several finds, or a found list, are a list.

use super::{Failure, Helper, Invocation, Outcome, Prepare, Prepared, error_text};
use crate::json_path::{Found, JsonPath};
use crate::template::value::{Origin, Value};
use serde_json::Value as Json;
use std::borrow::Cow;

pub(super) const HELPERS: &[Helper] =
    &[Helper::new("jsonPath", json_path).preparing(Prepare::JsonPath)];

fn json_path<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let subject = invocation.argument(0);
    if subject.is_nothing() {
        return Ok(Value::text(""));
    }
    if invocation.argument(1).is_nothing() {
        return Ok(error_text("The JSONPath cannot be empty"));
    }
    let given;
    let path = match invocation.prepared {
        Prepared::JsonPath(path) => path,
        _ => {
            let text = invocation.text(1, "the path")?;
            let Ok(compiled) = JsonPath::compile(&text) else {
                let message = format!("{text} is not a valid JSONPath expression");
                return Ok(error_text(&message));
            };
            given = compiled;
            &given
        }
    };
    let default = invocation.option("default").cloned();
    let found = match &subject {
        Value::Body(request) => find(path, request.body.json().map(Cow::Borrowed))?,
        Value::Json(Cow::Borrowed(json), _) => find(path, Some(Cow::Borrowed(*json)))?,
        Value::Json(Cow::Owned(json), _) => find(path, Some(Cow::Owned(json.clone())))?,
        value => find(path, parsed(&value.print()).map(Cow::Owned))?,
    };
    match found {
        Value::Nothing => Ok(default.unwrap_or(Value::Nothing)),
        found => Ok(found),
    }
}

fn parsed(text: &str) -> Option<Json> {
    serde_json::from_str(text).ok()
}

fn find<'a>(path: &JsonPath, json: Option<Cow<'a, Json>>) -> Result<Value<'a>, Failure> {
    Ok(match json {
        None => Value::Nothing,
        Some(Cow::Borrowed(json)) => value_of(path.find(json)?),
        Some(Cow::Owned(json)) => {
            let found = path.find(&json)?;
            match found {
                Found::Nothing => Value::Nothing,
                Found::One(json) => Value::of_json(json.into_owned(), Origin::Found),
                Found::Many(all) => many(all),
            }
        }
    })
}

fn value_of(found: Found<'_>) -> Value<'_> {
    match found {
        Found::Nothing => Value::Nothing,
        Found::One(json) => Value::of_json_part(json, Origin::Found),
        Found::Many(all) => many(all),
    }
}

fn many<'a>(all: Vec<Cow<'_, Json>>) -> Value<'a> {
    let all = all.into_iter().map(Cow::into_owned).collect();
    Value::Json(Cow::Owned(Json::Array(all)), Origin::Found)
}
