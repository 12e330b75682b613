//! Comparable part of an answer of the admin API: its JSON without values that differ from one run or server to the next.

use serde_json::{Value, json};

/// Properties that tell times, versions, or explain in a server's own words.
const OWN: &[&str] = &[
    "detail",
    "loggedDate",
    "loggedDateString",
    "subEvents",
    "timestamp",
    "uptimeInSeconds",
    "version",
];
/// Times that WireMock adds when it has sent an answer, which may be after somebody has asked for them.
const LATER: &[&str] = &["processTime", "responseSendTime", "serveTime", "totalTime"];
/// Text in place of an id that the server has chosen.
const CHOSEN: &str = "(an id)";

/// Text in place of a page that says that the server failed.
const PAGE: &str = "(a page)";

/// The comparable part of an answer: its status, its kind and its body. `known` is the text of the case: the ids in it are not the
/// server's.
pub fn simplified(answer: &Value, known: &str) -> Value {
    let kind = answer["fields"].as_array();
    let kind = kind.and_then(|fields| fields.iter().find(|field| field[0] == "content-type"));
    let kind = kind.map_or(Value::Null, |field| field[1].clone());
    let text = answer["body"].as_str().unwrap_or_default();
    let mut shown = json!({"status": answer["status"], "kind": kind});
    match serde_json::from_str::<Value>(text) {
        Ok(mut body) => {
            simplify_part(&mut body, known);
            leave_names_of_stubs(&mut body);
            if let Some(errors) = body.get_mut("errors").and_then(Value::as_array_mut) {
                sort_by_pointer(errors);
            }
            shown["body"] = body;
        }
        Err(_) if text.starts_with("<html>") => shown["body"] = PAGE.into(),
        Err(_) => shown["body"] = answer["body"].clone(),
    }
    shown
}

fn simplify_part(value: &mut Value, known: &str) {
    match value {
        Value::String(text) if is_id(text) && !known.contains(text.as_str()) => {
            CHOSEN.clone_into(text);
        }
        // Sums of shares differ in their last digit.
        Value::Number(number) if number.is_f64() => {
            let number = number.as_f64().unwrap_or_default();
            *value = format!("{number:.12}").into();
        }
        Value::Array(items) => items.iter_mut().for_each(|item| simplify_part(item, known)),
        Value::Object(map) => {
            map.retain(|name, _| !LATER.contains(&name.as_str()));
            for (name, value) in map {
                if OWN.contains(&name.as_str()) && !value.is_object() {
                    *value = json!("(its own)");
                } else {
                    simplify_part(value, known);
                }
            }
        }
        _ => {}
    }
}

/// Takes the field that names a stub out of recorded mappings: it is not recorded, as docs/mock.md says.
fn leave_names_of_stubs(body: &mut Value) {
    let mappings = body.get_mut("mappings").and_then(Value::as_array_mut);
    for mapping in mappings.into_iter().flatten() {
        let response = mapping.get_mut("response").and_then(Value::as_object_mut);
        let Some(response) = response else { continue };
        let fields = response.get_mut("headers").and_then(Value::as_object_mut);
        let is_empty = fields.is_some_and(|fields| {
            fields.shift_remove("Matched-Stub-Id").is_some() && fields.is_empty()
        });
        if is_empty {
            response.shift_remove("headers");
        }
    }
}

fn sort_by_pointer(errors: &mut [Value]) {
    errors.sort_by_key(|error| error["source"]["pointer"].to_string());
}

/// Whether this is a UUID as servers write them.
fn is_id(text: &str) -> bool {
    let parts: Vec<usize> = text.split('-').map(str::len).collect();
    let hexadecimal = |c: char| c.is_ascii_hexdigit() || c == '-';
    parts == [8, 4, 4, 4, 12] && text.chars().all(hexadecimal)
}
