//! `jsonMerge one other removeNulls=`, `jsonArrayAdd list item jsonPath= flatten= maxItems=`, `jsonRemove json 'path'`: changed JSON, on
//! one line. Paths are of names, as in `$.a.b`.

use super::{Failure, Helper, Invocation, Outcome, error_text, integer};
use crate::document::json::may_be_tree;
use crate::template::value::Value;
use serde_json::{Map, Value as Json};

pub(super) const HELPERS: &[Helper] = &[
    Helper::new("jsonMerge", merge),
    Helper::new("jsonArrayAdd", add),
    Helper::new("jsonRemove", remove),
];

fn merge<'a>(mut invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let base = invocation.argument(0);
    let mut merged = match object("Base JSON", &base) {
        Ok(merged) => merged,
        Err(error) => return Ok(error),
    };
    let other = match invocation.block {
        Some(block) => {
            let scope = invocation.here();
            Value::text(invocation.body(block, scope)?)
        }
        None => invocation.argument(1),
    };
    let other = match object("JSON to merge", &other) {
        Ok(other) => other,
        Err(error) => return Ok(error),
    };
    let removes = invocation.option("removeNulls");
    let nulls = if removes.is_some_and(Value::is_truthy) {
        Nulls::Remove
    } else {
        Nulls::Keep
    };
    merge_into(&mut merged, other, nulls);
    Ok(Value::text(Json::Object(merged).to_string()))
}

/// Effect of a `null` among merged values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nulls {
    Keep,
    /// It removes the property of its name.
    Remove,
}

fn merge_into(base: &mut Map<String, Json>, other: Map<String, Json>, nulls: Nulls) {
    for (name, value) in other {
        match (base.get_mut(&name), value) {
            (Some(Json::Object(own)), Json::Object(value)) => merge_into(own, value, nulls),
            (_, Json::Null) if nulls == Nulls::Remove => {
                base.shift_remove(&name);
            }
            (_, value) => {
                base.insert(name, value);
            }
        }
    }
}

fn add<'a>(mut invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let base = invocation.argument(0);
    let Some(mut json) = json(&base) else {
        return Ok(not_valid("Base JSON", &base));
    };
    let item = match invocation.block {
        Some(block) => {
            let scope = invocation.here();
            Value::text(invocation.body(block, scope)?)
        }
        None => invocation.argument(1),
    };
    let Some(item_json) = self::json(&item) else {
        return Ok(not_valid("Item-to-add JSON", &item));
    };
    let path = invocation
        .option("jsonPath")
        .map(|path| path.print().into_owned());
    let flattens = invocation.option("flatten").is_some_and(Value::is_truthy);
    let most = invocation.option("maxItems").map(integer).transpose()?;
    let Some(Json::Array(items)) = place(&mut json, path.as_deref().unwrap_or("$"))? else {
        let message = format!("Target JSON is not a JSON array ('{}')", base.print());
        return Ok(error_text(&message));
    };
    match item_json {
        Json::Array(more) if flattens => items.extend(more),
        item => items.push(item),
    }
    if let Some(most) = most.and_then(|most| usize::try_from(most).ok()) {
        items.drain(..items.len().saturating_sub(most));
    }
    Ok(Value::text(json.to_string()))
}

fn remove<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let base = invocation.argument(0);
    let Some(mut json) = json(&base) else {
        return Ok(not_valid("Input JSON string", &base));
    };
    let path = invocation.text(1, "the path")?;
    let (parent, name) = path.rsplit_once('.').ok_or_else(|| not_names(&path))?;
    if name.contains(['[', '*']) || name.is_empty() {
        return Err(not_names(&path));
    }
    if let Some(Json::Object(map)) = place(&mut json, parent)? {
        map.shift_remove(name);
    }
    Ok(Value::text(json.to_string()))
}

fn json(value: &Value<'_>) -> Option<Json> {
    match value {
        Value::Json(json, _) => Some(json.clone().into_owned()),
        Value::Nothing => None,
        value => {
            let text = value.print();
            may_be_tree(text.as_bytes()).ok()?;
            serde_json::from_str(&text).ok()
        }
    }
}

/// An object; the error is what a template is told in its place.
fn object<'a>(what: &str, value: &Value<'_>) -> Result<Map<String, Json>, Value<'a>> {
    match json(value) {
        Some(Json::Object(map)) => Ok(map),
        Some(_) => Err(error_text(&format!(
            "{what} is not a JSON object ('{}')",
            value.print()
        ))),
        None => Err(not_valid(what, value)),
    }
}

/// Where a path of names, `$.a.b`, leads.
fn place<'j>(json: &'j mut Json, path: &str) -> Result<Option<&'j mut Json>, Failure> {
    let names = path
        .strip_prefix('$')
        .filter(|rest| !rest.contains(['[', '*']));
    let names = names.ok_or_else(|| not_names(path))?;
    let mut place = Some(json);
    for name in names.split('.').filter(|name| !name.is_empty()) {
        place = place.and_then(|json| json.get_mut(name));
    }
    Ok(place)
}

fn not_names(path: &str) -> Failure {
    Failure::Own(format!("`{path}` is not a path of names, as in $.a.b"))
}

fn not_valid<'a>(what: &str, value: &Value<'_>) -> Value<'a> {
    error_text(&format!("{what} is not valid JSON ('{}')", value.print()))
}
