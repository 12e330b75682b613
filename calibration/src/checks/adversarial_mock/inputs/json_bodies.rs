//! Bodies of JSON: wide, deep, with equal or many keys.

use super::{Asked, Input, body_stub, repeated};
use serde_json::{Value, json};

#[expect(clippy::too_many_lines, reason = "a table of inputs")]
pub(super) fn json_bodies(size: usize) -> Vec<Input> {
    let keys = format!("{{{}\"z\":0}}", repeated(size, |n| format!("\"k{n}\":0,")));
    let same = format!("{{{}\"z\":0}}", "\"k\":0,".repeat(size / 6));
    let numbers = format!("[{}0]", "0,".repeat(size / 2));
    let lists = format!("[{}0]", "[],".repeat(size / 3));
    let objects = format!("[{}0]", "{\"a\":0},".repeat(size / 8));
    let deep = format!("{}{}", "[".repeat(120), "]".repeat(120));
    let deep = format!("[{}0]", format!("{deep},").repeat(size / 241));
    let floats = format!("[{}0]", "1e1,".repeat(size / 4));
    let escapes = format!("[\"{}\"]", "\\u0000".repeat(size / 6));
    let turned = format!("[{}0]", repeated(size, |n| format!("{n},")));
    let equal = |expected: Value| body_stub(json!({ "equalToJson": expected }));
    let any_order = |expected: &str| {
        let document: Value = serde_json::from_str(expected).unwrap_or_default();
        body_stub(
            json!({ "equalToJson": document, "ignoreArrayOrder": true, "ignoreExtraElements": true }),
        )
    };
    let path = |path: &str| body_stub(json!({ "matchesJsonPath": path }));
    let schema = |schema: Value| body_stub(json!({ "matchesJsonSchema": schema }));
    let of = |what: &str, stub: Value, text: &str| Input::of(what, stub, Asked::post(text));
    let reversed: Vec<usize> = (0..size / 6).rev().collect();
    let holders = format!("[{}1]", "\"${json-unit.any-number}\",".repeat(size / 30));
    vec![
        of("equalToJson, keys", equal(json!({ "a": 1 })), &keys),
        of(
            "equalToJson, one key many times",
            equal(json!({ "a": 1 })),
            &same,
        ),
        of("equalToJson, numbers", equal(json!([1])), &numbers),
        of("equalToJson, lists", equal(json!([1])), &lists),
        of("equalToJson, objects", equal(json!([1])), &objects),
        of("equalToJson, deep", equal(json!([1])), &deep),
        of("equalToJson, floats", equal(json!([1])), &floats),
        of("equalToJson, escapes", equal(json!([1])), &escapes),
        of(
            "equalToJson, any order, turned around",
            any_order(&json!(reversed).to_string()),
            &turned,
        ),
        of(
            "equalToJson, any order, one differs",
            any_order(&numbers.replace(",0]", ",1]")),
            &numbers,
        ),
        of(
            "equalToJson, any order, placeholders",
            any_order(&holders),
            &format!("[{}\"\"]", "0,".repeat(size / 30)),
        ),
        of(
            "equalToJson, any order, objects",
            any_order(&format!("[{}0]", "{\"a\":1},".repeat(size / 8))),
            &objects,
        ),
        of("matchesJsonPath $..*", path("$..*[?(@.z == 1)]"), &deep),
        of("matchesJsonPath $..*..*..*", path("$..*..*..*"), &deep),
        of(
            "matchesJsonPath with filters in each other",
            path("$[?(@[?(@.a == 1)])]"),
            &objects,
        ),
        of(
            "matchesJsonPath with $ in a filter",
            path("$[?($..a == @.a)]"),
            &objects,
        ),
        of("matchesJsonPath, keys", path("$.z9"), &keys),
        of(
            "matchesJsonSchema, unique items",
            schema(json!({ "uniqueItems": true })),
            &turned,
        ),
        of(
            "matchesJsonSchema, unique objects",
            schema(json!({ "uniqueItems": true })),
            &format!("[{}0]", repeated(size, |n| format!("{{\"a\":{n}}},"))),
        ),
        of(
            "matchesJsonSchema, numbers",
            schema(json!({ "items": { "type": "string" } })),
            &numbers,
        ),
        of(
            "matchesJsonSchema, patterns",
            schema(json!({ "patternProperties": { "^(k+)+$": { "type": "string" } } })),
            &keys,
        ),
    ]
}
