//! Requests that the journal and the admin API have to search, and stubs in great number.

use super::{Asked, FORM, Input, body_stub, deep_xml, repeated};
use serde_json::json;
use std::fmt::Write as _;

#[expect(clippy::too_many_lines, reason = "a table of inputs")]
pub(super) fn journals(size: usize) -> Vec<Input> {
    let fill = |body: &str| -> Vec<Asked> { (0..10).map(|_| Asked::post(body)).collect() };
    let deep = deep_xml(size / 10);
    let keys = format!(
        "{{{}\"z\":0}}",
        repeated(size / 10, |n| format!("\"k{n}\":0,"))
    );
    let stub = || body_stub(json!({ "equalToJson": { "a": 1 } }));
    let long: String = "x".repeat(size / 10);
    let mut searches = Vec::new();
    for (what, body, path, query) in [
        (
            "journal, find by XML",
            &deep,
            "/requests/find",
            json!({ "bodyPatterns": [{ "equalToXml": "<b/>" }] }),
        ),
        (
            "journal, find by XPath",
            &deep,
            "/requests/find",
            json!({ "bodyPatterns": [{ "matchesXPath": "//aaa//aaa" }] }),
        ),
        (
            "journal, count by JSON",
            &keys,
            "/requests/count",
            json!({ "bodyPatterns": [{ "equalToJson": { "a": 1 } }] }),
        ),
        (
            "journal, count by a regular expression",
            &long,
            "/requests/count",
            json!({ "bodyPatterns": [{ "matches": "(x*)(x*)\\1y" }] }),
        ),
        (
            "near misses of a pattern",
            &long,
            "/near-misses/request-pattern",
            json!({ "url": "/a", "bodyPatterns": [{ "equalTo": "y".repeat(size / 10) }] }),
        ),
        (
            "near misses of a request",
            &long,
            "/near-misses/request",
            json!({ "url": "/a", "method": "POST", "body": deep }),
        ),
        (
            "a recording of the journal",
            &keys,
            "/recordings/snapshot",
            json!({ "persist": false, "filters": { "allowNonProxied": true }, "repeatsAsScenarios": true }),
        ),
        (
            "find stubs by metadata",
            &long,
            "/mappings/find-by-metadata",
            json!({ "matchesJsonPath": "$..*..*" }),
        ),
    ] {
        searches.push(Input {
            what: what.to_owned(),
            stubs: vec![stub()],
            before: fill(body),
            asked: Asked::admin(path, &query),
        });
    }
    let page = |what: &str, path: &str| Input {
        what: what.to_owned(),
        stubs: vec![stub()],
        before: fill(&long),
        asked: Asked::get(&format!("/__admin{path}")),
    };
    searches.push(page("the journal's page", "/requests"));
    searches.push(page(
        "near misses of the unmatched",
        "/requests/unmatched/near-misses",
    ));
    let wanted = json!({ "equalTo": "z".repeat(200) });
    searches.push(Input {
        what: "near misses of many, whose bodies differ".to_owned(),
        stubs: vec![json!({ "request": { "url": "/a", "bodyPatterns": [wanted] } }); 50],
        before: (0..200).map(|_| Asked::post("y".repeat(200))).collect(),
        asked: Asked::get("/__admin/requests/unmatched/near-misses"),
    });
    let answer = json!({ "status": 200, "body": "z".repeat(20_000) });
    searches.push(Input {
        what: "near misses of many, with a long stub".to_owned(),
        stubs: vec![json!({ "request": { "url": "/a", "method": "GET" }, "response": answer })],
        before: (0..1_000).map(|_| Asked::post("")).collect(),
        asked: Asked::get("/__admin/requests/unmatched/near-misses"),
    });
    let several = json!({ "p1": { "equalToJson": { "a": 1 } } });
    searches.push(Input {
        what: "near misses of many, with many values".to_owned(),
        stubs: vec![json!({ "request": { "urlPath": "/a", "formParameters": several } }); 50],
        before: (0..80)
            .map(|_| Asked::post("p1=x&".repeat(1_000)).field("Content-Type", FORM))
            .collect(),
        asked: Asked::get("/__admin/requests/unmatched/near-misses"),
    });
    // All as long as is compared.
    let stubs =
        (0..100).map(|n| json!({ "request": { "url": format!("/{n:04}{}", "u".repeat(195)) } }));
    searches.push(Input {
        what: "near misses of many, many stubs".to_owned(),
        stubs: stubs.collect(),
        before: (0..200)
            .map(|_| Asked::get(&format!("/{}", "v".repeat(199))))
            .collect(),
        asked: Asked::get("/__admin/requests/unmatched/near-misses"),
    });
    let mut many = String::new();
    for number in 0..size / 120 {
        let comma = if number == 0 { "" } else { "," };
        if write!(
            many,
            "{comma}{{\"request\":{{\"url\":\"/a{number}\"}},\"response\":{{\"status\":200}}}}"
        )
        .is_err()
        {
            break;
        }
    }
    searches.push(Input::of(
        "stubs by import",
        stub(),
        Asked {
            line: "POST /__admin/mappings/import".to_owned(),
            ..Asked::post(format!("{{\"mappings\":[{many}]}}"))
        },
    ));
    searches
}
