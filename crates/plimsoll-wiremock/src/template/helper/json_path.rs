//! `jsonPath json 'path' default=`: what a JSONPath finds; several finds, or a found list, are a list.

use super::{Failure, Helper, Invocation, Outcome, Prepare, Prepared, error_text};
use crate::budget::Budget;
use crate::document::json::path::{JsonFound, JsonPath};
use crate::document::json::{Json, may_be_tree, tree_budget};
use crate::template::value::{Origin, Value};
use bumpalo::Bump;
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
        Value::Body(request) => {
            let body = &request.body;
            find(path, body.json()?, body.bytes().len())?
        }
        Value::Json(json, _) => find(path, Some(&Json::of(json, &Bump::new())), 0)?,
        value => {
            let text = value.print();
            may_be_tree(text.as_bytes())?;
            match serde_json::from_str(&text) {
                Ok(json) => find(path, Some(&Json::of(&json, &Bump::new())), text.len())?,
                Err(_) => Value::Nothing,
            }
        }
    };
    match found {
        Value::Nothing => Ok(default.unwrap_or(Value::Nothing)),
        found => Ok(found),
    }
}

fn find<'a>(path: &JsonPath, json: Option<&Json<'_>>, bytes: usize) -> Result<Value<'a>, Failure> {
    let Some(json) = json else {
        return Ok(Value::Nothing);
    };
    let arena = Bump::new();
    let (budget, values) = (Budget::for_bytes(bytes), tree_budget(bytes));
    Ok(match path.find(json, &arena, &budget)? {
        JsonFound::Nothing => Value::Nothing,
        JsonFound::One(json) => Value::of_json(json.to_value_within(&values)?, Origin::Found),
        JsonFound::Many(all) => {
            let all = all.iter().map(|json| json.to_value_within(&values));
            let all = all.collect::<Result<_, _>>()?;
            Value::Json(Cow::Owned(all), Origin::Found)
        }
    })
}
