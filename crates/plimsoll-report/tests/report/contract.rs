//! `summary.json` is a contract: its schema and one example per method are committed, and must be what the code makes.

use crate::fixture;
use plimsoll_report::record::Summary;
use plimsoll_report::render::json;
use serde_json::Value;
use std::path::Path;

#[test]
fn the_committed_examples_are_what_the_code_makes() {
    let mut wrong = Vec::new();
    for (name, view) in [
        ("summary-measure.json", &*fixture::MEASURE),
        ("summary-compare.json", &*fixture::COMPARE),
        ("summary-levels.json", &*fixture::LEVELS),
        ("summary-capacity.json", &*fixture::CAPACITY),
    ] {
        let text = json::render(view);
        wrong.extend(check_example(name, &text));
        conforms(name, &text, &view.summary);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Trials with their courses, and links with all of their delays, are too long for an example that somebody reads.
#[test]
fn outages_and_links_conform_too() {
    for (name, view) in [
        ("availability", &*fixture::AVAILABILITY),
        ("sensitivity", &*fixture::SENSITIVITY),
    ] {
        conforms(name, &json::render(view), &view.summary);
    }
}

/// Holds that it reads back as what it was, and that the schema has all of it.
fn conforms(name: &str, text: &str, summary: &Summary) {
    let read: Summary = serde_json::from_str(text).unwrap();
    assert!(read == *summary, "{name}: it reads back as something else");
    let schema: Value = serde_json::from_str(plimsoll_report::schema::SUMMARY).unwrap();
    let example: Value = serde_json::from_str(text).unwrap();
    let mut problems = Vec::new();
    compare(&schema, &schema, &example, name, &mut problems);
    assert_eq!(problems, Vec::<String>::new());
}

/// The names that scripts rely on.
#[test]
fn promised_names() {
    let example: Value = serde_json::from_str(&json::render(&fixture::COMPARE)).unwrap();
    for pointer in [
        "/schema",
        "/verdict/result",
        "/verdict/reasons/0",
        "/seed",
        "/host/cpus",
        "/validity/0/criterion",
        "/validity/0/value",
        "/validity/0/limit",
        "/validity/0/ok",
        "/thresholds/0/metric",
        "/arms/direct/offered_per_s",
        "/arms/direct/achieved_per_s",
        "/arms/direct/intended",
        "/arms/direct/sent",
        "/arms/direct/in_flight",
        "/arms/direct/outcomes/answered/200",
        "/arms/direct/outcomes/timed_out",
        "/arms/direct/outcomes/unfinished",
        "/arms/direct/outcomes/refused",
        "/arms/direct/outcomes/exhausted",
        "/arms/direct/outcomes/closed",
        "/arms/direct/outcomes/reset",
        "/arms/direct/outcomes/tls_failed",
        "/arms/direct/outcomes/malformed",
        "/arms/direct/outcomes/aborted",
        "/arms/direct/dropped",
        "/arms/direct/failed",
        "/arms/direct/response_time/p999",
        "/arms/direct/service_time/min",
        "/arms/direct/iteration_time/mean",
        "/arms/direct/connection_wait/p75",
        "/arms/direct/pacing_lag/p95",
        "/arms/direct/connect_time/count",
        "/arms/gateway/added/p99/value",
        "/arms/gateway/added/p99/low",
        "/arms/gateway/added/p99/high",
        "/arms/gateway/by_step/GET ~1json~1valid/response_time/p50",
        "/arms/gateway/by_group/visit/count",
        "/arms/gateway/by_group/visit/failed_share",
        "/arms/gateway/by_group/visit/duration/p95",
        "/arms/gateway/by_group/visit/cumulated_response_time/p95",
        "/arms/gateway/checks/status/passed",
        "/arms/gateway/components/plain/cpu_cores_mean",
        "/arms/gateway/components/plain/cpu_cores_max",
        "/arms/gateway/components/plain/rss_bytes_max",
    ] {
        assert!(example.pointer(pointer).is_some(), "{pointer}");
    }
    let none = example.pointer("/arms/direct/connect_time/p99");
    assert_eq!(none, Some(&Value::Null), "null where there is no sample");
}

#[test]
fn promised_names_of_levels_and_searches() {
    for (view, pointer) in [
        (&*fixture::LEVELS, "/arms/direct/levels/0/name"),
        (&*fixture::LEVELS, "/arms/direct/levels/0/offered_per_s"),
        (&*fixture::LEVELS, "/arms/direct/levels/0/response_time/p99"),
        (
            &*fixture::LEVELS,
            "/arms/direct/levels/0/components/generator",
        ),
        (&*fixture::LEVELS, "/arms/gateway/levels/2/bearing/manner"),
        (&*fixture::LEVELS, "/arms/gateway/bottleneck/conclusion"),
        (&*fixture::CAPACITY, "/arms/direct/capacity/lower_per_s"),
        (&*fixture::CAPACITY, "/arms/direct/capacity/upper_per_s"),
        (
            &*fixture::CAPACITY,
            "/arms/direct/capacity/trials/0/outcome",
        ),
        (
            &*fixture::CAPACITY,
            "/arms/direct/capacity/trials/0/components/upstream",
        ),
        (&*fixture::CAPACITY, "/arms/direct/bottleneck/conclusion"),
        (&*fixture::CAPACITY, "/absent/0/arm"),
    ] {
        let example: Value = serde_json::from_str(&json::render(view)).unwrap();
        assert!(example.pointer(pointer).is_some(), "{pointer}");
    }
}

/// Problem of a committed example, if it has one. Like [`plimsoll_testbed::committed::check`], but figures may differ in their last digits, as mathematical functions do between machines.
fn check_example(name: &str, expected: &str) -> Option<String> {
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&made, expected).unwrap();
    let committed = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples")
        .join(name);
    let found = std::fs::read_to_string(committed).unwrap_or_default();
    let found: Value = serde_json::from_str(&found).unwrap_or_default();
    let expected: Value = serde_json::from_str(expected).unwrap();
    let hint = "is not what the code makes: read the difference, then copy";
    (!alike(&found, &expected)).then(|| format!("examples/{name} {hint} {}", made.display()))
}

fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.keys().eq(b.keys()) && a.values().zip(b.values()).all(|(a, b)| alike(a, b))
        }
        _ => a == b,
    }
}

/// Notes every field of `value` that the schema does not have, and every required one that is absent.
fn compare(root: &Value, schema: &Value, value: &Value, at: &str, problems: &mut Vec<String>) {
    let schema = variant(resolve(root, schema), value);
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let known = schema.pointer("/properties").and_then(|p| p.get(name));
                match known.or_else(|| schema.get("additionalProperties")) {
                    Some(inner) => compare(root, inner, field, &format!("{at}.{name}"), problems),
                    None => problems.push(format!("{at}.{name} is not in the schema")),
                }
            }
            for required in schema
                .get("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                if !fields.contains_key(required.as_str().unwrap()) {
                    problems.push(format!("{at} lacks {required}"));
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                compare(root, &schema["items"], item, at, problems);
            }
        }
        _ => {}
    }
}

/// Follows references, and of alternatives takes the one that is not null.
fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return resolve(root, root.pointer(&reference[1..]).unwrap());
    }
    let alternatives = schema.get("anyOf").and_then(Value::as_array);
    let chosen = alternatives.and_then(|all| {
        all.iter()
            .find(|one| one.get("type") != Some(&"null".into()))
    });
    chosen.map_or(schema, |one| resolve(root, one))
}

/// Of several variants the one that has the only field of `value`; the schema itself where it has none.
fn variant<'a>(schema: &'a Value, value: &Value) -> &'a Value {
    let variants = schema.get("oneOf").and_then(Value::as_array);
    let field = value.as_object().and_then(|fields| fields.keys().next());
    let chosen = variants.zip(field).and_then(|(variants, field)| {
        let has = |one: &&Value| one["properties"].get(field).is_some();
        variants.iter().find(has)
    });
    chosen.unwrap_or(schema)
}
