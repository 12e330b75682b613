//! Memory that one request may cost: 16 bytes for each byte of it and of the stub that it meets, and 8 MiB. Bytes are counted by the allocator, of
//! the mock and of the client beside it, in one test after the other.
#![allow(clippy::unwrap_used, reason = "test code outside test functions")]

#[path = "mock/world.rs"]
#[allow(dead_code, reason = "its other users need the rest")]
mod world;

use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait as _};
use serde_json::{Value, json};
use std::alloc::System;
use world::{Mock, config};

#[global_allocator]
static COUNTED: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Bytes for each byte of an input, and for any.
const EACH: usize = 16;
const ANY: usize = 8 << 20;

/// Bytes of most inputs.
const SIZE: usize = 200_000;

/// A body that a stub's template renders, or its pattern does not match, so that the table of differences shows it. What exceeds its bound is noted.
fn check(beyond: &mut Vec<String>, what: &str, stub: &Value, body: &str) {
    let mut config = config();
    config.differences_per_second = 1_000;
    let mock = Mock::start(config);
    let mut client = mock.client();
    let stub = stub.to_string();
    let created = client.send("POST", "/__admin/mappings", &stub);
    assert_eq!(created.status, 201, "{what}: {}", created.text());
    drop(created);
    client.send("GET", "/json/valid", "");
    COUNTED.reset_peak_memory();
    let answer = client.send("POST", "/a", body);
    let most = COUNTED.get_peak_memory();
    assert!(
        [200, 404, 500].contains(&answer.status),
        "{what}: {}",
        answer.text()
    );
    let input = stub.len() + body.len();
    let allowed = EACH * input + ANY;
    mock.stop();
    if most > allowed {
        beyond.push(format!(
            "{what}: {most} bytes for {input}, {allowed} are allowed"
        ));
    }
}

fn body(pattern: &Value) -> Value {
    json!({"request": {"url": "/a", "method": "POST", "bodyPatterns": [pattern]}, "response": {"status": 200}})
}

fn template(text: &str) -> Value {
    json!({"request": {"url": "/a"}, "response": {"status": 200, "body": text, "transformers": ["response-template"]}})
}

fn deep(size: usize) -> String {
    format!("{}{}", "<a>".repeat(size / 7), "</a>".repeat(size / 7))
}

fn many(size: usize, one: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for number in 0.. {
        if text.len() >= size {
            break;
        }
        text.push_str(&one(number));
    }
    text
}

fn xml(beyond: &mut Vec<String>) {
    let equal = body(&json!({"equalToXml": "<b/>"}));
    check(
        beyond,
        "56 kB of elements within each other",
        &equal,
        &deep(56_000),
    );
    check(beyond, "elements within each other", &equal, &deep(SIZE));
    check(
        beyond,
        "elements beside each other",
        &equal,
        &format!("<a>{}</a>", "<b/>x".repeat(SIZE / 5)),
    );
    check(
        beyond,
        "long names of spaces",
        &equal,
        &format!(
            "<a xmlns='{}'>{}</a>",
            "u".repeat(SIZE / 2),
            "<b/>".repeat(SIZE / 8)
        ),
    );
    for sign in ["<", "="] {
        let signs = format!("<a>{}</a>", sign.repeat(2 * SIZE));
        check(beyond, "signs alone", &equal, &signs);
    }
    let attributes = |count: usize| -> String {
        let all: String = (0..count).map(|n| format!("a{n}='' ")).collect();
        format!("<a {all}/>")
    };
    check(beyond, "attributes", &equal, &attributes(SIZE / 10));
    let others = attributes(1_900).replace("a9=''", "a9='x'");
    check(
        beyond,
        "as many attributes",
        &body(&json!({ "equalToXml": others })),
        &attributes(1_900),
    );
    let copies = "&e;".repeat(SIZE / 6);
    let entity = format!(
        "<!DOCTYPE a [<!ENTITY e '{}'>]><a>{copies}</a>",
        "x".repeat(SIZE / 2)
    );
    check(beyond, "an entity many times", &equal, &entity);
    let declaring = many(SIZE, |n| format!("<a xmlns:p{n}='u'>"));
    check(beyond, "spaces within each other", &equal, &declaring);
}

fn xml_paths(beyond: &mut Vec<String>) {
    let path = body(&json!({"matchesXPath": "//a//a//a[b]"}));
    check(
        beyond,
        "a path through elements within each other",
        &path,
        &deep(SIZE),
    );
    let found = body(&json!({"matchesXPath": {"expression": "//a", "contains": "z"}}));
    check(
        beyond,
        "a pattern on elements within each other",
        &found,
        &deep(SIZE),
    );
    let nodes = template("{{#each (xPath request.body '//a')}}{{this.name}}{{/each}}");
    check(beyond, "the helper xPath", &nodes, &deep(SIZE));
    check(
        beyond,
        "140 kB for formatXml",
        &template("{{formatXml request.body}}"),
        &deep(140_000),
    );
    check(
        beyond,
        "formatXml",
        &template("{{formatXml request.body}}"),
        &deep(SIZE),
    );
}

fn json_bodies(beyond: &mut Vec<String>) {
    let equal = body(&json!({"equalToJson": {"a": 1}}));
    let keys = format!("{{{}\"z\":0}}", many(SIZE, |n| format!("\"k{n}\":0,")));
    let numbers = format!("[{}0]", "0,".repeat(SIZE / 2));
    let nested = format!("{}{}", "[".repeat(120), "]".repeat(120));
    let nested = format!("[{}0]", format!("{nested},").repeat(SIZE / 241));
    check(beyond, "keys", &equal, &keys);
    check(beyond, "numbers", &equal, &numbers);
    check(beyond, "lists within each other", &equal, &nested);
    let any_order =
        json!({"equalToJson": "[{}]", "ignoreArrayOrder": true, "ignoreExtraElements": true});
    check(
        beyond,
        "lists in any order",
        &body(&any_order),
        &format!("[{}0]", "{\"a\":0},".repeat(SIZE / 8)),
    );
    check(
        beyond,
        "$..*..*",
        &body(&json!({"matchesJsonPath": "$..*..*..*"})),
        &nested,
    );
    let found = json!({"matchesJsonPath": {"expression": "$..*", "contains": "z"}});
    check(beyond, "a pattern on $..*", &body(&found), &nested);
    check(
        beyond,
        "a schema",
        &body(&json!({"matchesJsonSchema": {"type": "string"}})),
        &numbers,
    );
    check(
        beyond,
        "the helper jsonPath",
        &template("{{jsonPath request.body '$..*'}}"),
        &nested,
    );
    check(
        beyond,
        "parseJson",
        &template("{{#with (parseJson request.body)}}{{z}}{{/with}}"),
        &keys,
    );
    check(
        beyond,
        "formatJson",
        &template("{{formatJson request.body}}"),
        &keys,
    );
}

fn texts(beyond: &mut Vec<String>) {
    let equal = body(&json!({"equalTo": "y"}));
    check(beyond, "a long line", &equal, &"x".repeat(SIZE));
    check(beyond, "short lines", &equal, &"x\n".repeat(SIZE / 2));
    check(
        beyond,
        "a text as long",
        &body(&json!({"equalTo": "y".repeat(SIZE)})),
        &"x".repeat(SIZE),
    );
}

fn templates(beyond: &mut Vec<String>) {
    let body = "x".repeat(SIZE);
    check(
        beyond,
        "replace",
        &template("{{replace request.body 'x' request.body}}"),
        &body,
    );
    check(
        beyond,
        "the body many times",
        &template(&"{{request.body}}".repeat(100)),
        &body,
    );
    let loops = "{{#each (range 0 9999)}}{{#each (range 0 9999)}}{{#each (range 0 9999)}}x{{/each}}{{/each}}{{/each}}";
    check(beyond, "loops within each other", &template(loops), "");
    let grows = "{{#assign 'x'}}{{x}}{{x}}{{x}}{{x}}{{/assign}}".repeat(12);
    check(
        beyond,
        "a text that grows",
        &template(&format!(
            "{{{{#assign 'x'}}}}{{{{request.body}}}}{{{{/assign}}}}{grows}"
        )),
        "abc",
    );
    let joined = format!(
        "{{{{assign 'x' 'abc'}}}}{}",
        "{{assign 'x' (join x x x x x x x x ',')}}".repeat(12)
    );
    check(beyond, "a text that is joined", &template(&joined), "");
    check(
        beyond,
        "padding",
        &template("{{#each (range 0 9999)}}{{ljust 'x' size=1000000}}{{/each}}"),
        "",
    );
}

#[test]
fn a_request_takes_memory_in_proportion() {
    let mut beyond = Vec::new();
    xml(&mut beyond);
    xml_paths(&mut beyond);
    json_bodies(&mut beyond);
    texts(&mut beyond);
    templates(&mut beyond);
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
}
