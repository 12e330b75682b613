//! Parameters, fields and cookies, many or long.

use super::{Asked, FORM, Input, repeated};
use serde_json::{Value, json};

#[expect(clippy::too_many_lines, reason = "a table of inputs")]
pub(super) fn parameters(size: usize) -> Vec<Input> {
    // A head has less room than a body.
    let short = size.min(30_000);
    let named = |kind: &str| {
        let patterns: serde_json::Map<String, Value> = (0..100)
            .map(|n| (format!("p{n}"), json!({ "equalTo": "y" })))
            .collect();
        json!({ "request": { "urlPath": "/a", kind: patterns }, "response": { "status": 200 } })
    };
    let fields = repeated(short, |n| format!("a{n}=&"));
    let same = "p1=&".repeat(short / 4);
    let form = repeated(size, |n| format!("a{n}=&"));
    let includes = json!({ "request": { "urlPath": "/a", "queryParameters": { "p1": { "includes": [{ "equalTo": "x" }, { "matches": "(x+)+" }] } } }, "response": { "status": 200 } });
    let template_url = json!({ "request": { "urlPathTemplate": "/a/{b}/{c}/{d}", "pathParameters": { "b": { "equalTo": "z" } } }, "response": { "status": 200 } });
    let boundary = "multipart/form-data; boundary=b";
    let part = "--b\r\nA: b\r\n\r\n\r\n".repeat(size / 15) + "--b--";
    // As many parts as are looked at.
    let small = |open: &str, item: &str, close: &str| {
        let items = item.repeat(size / 1_000 / item.len());
        format!("--b\r\nA: c\r\n\r\n{open}{items}{close}\r\n").repeat(1_000) + "--b--"
    };
    let many_fields = format!("--b\r\n{}\r\n\r\n--b--", "a:\r\n".repeat(size / 4));
    let dashes = "--b".repeat(size / 3);
    let multipart = json!({ "request": { "url": "/a", "multipartPatterns": [{ "matchingType": "ALL", "headers": { "A": { "equalTo": "c" } }, "bodyPatterns": [{ "equalToXml": "<a/>" }] }] }, "response": { "status": 200 } });
    let parts = |what: &str, body: &str| {
        Input::of(
            what,
            multipart.clone(),
            Asked::post(body).field("Content-Type", boundary),
        )
    };
    let formed = FORM;
    let form_includes = |pattern: Value| {
        let patterns = json!({ "p1": { "includes": [pattern, { "equalTo": "y" }] } });
        json!({ "request": { "urlPath": "/a", "formParameters": patterns }, "response": { "status": 200 } })
    };
    vec![
        Input::of(
            "query, names",
            named("queryParameters"),
            Asked::get(&format!("/a?{fields}")),
        ),
        Input::of(
            "query, one name",
            named("queryParameters"),
            Asked::get(&format!("/a?{same}")),
        ),
        Input::of(
            "query, includes",
            includes,
            Asked::get(&format!("/a?{same}")),
        ),
        Input::of(
            "cookies",
            named("cookies"),
            Asked::get("/a").field("Cookie", &fields.replace('&', ";")),
        ),
        Input::of(
            "headers",
            named("headers"),
            Asked::get("/a").field("p1", &"x".repeat(short)),
        ),
        Input::of(
            "form, names",
            named("formParameters"),
            Asked::post(form).field("Content-Type", formed),
        ),
        Input::of(
            "form, separators",
            named("formParameters"),
            Asked::post("&".repeat(size)).field("Content-Type", formed),
        ),
        Input::of(
            "form, one name",
            named("formParameters"),
            Asked::post("p1=&".repeat(size / 4)).field("Content-Type", formed),
        ),
        Input::of(
            "form, values beside a long text",
            json!({ "request": { "urlPath": "/a", "formParameters": { "p1": { "equalTo": "y".repeat(200) } } }, "response": { "status": 200 } }),
            Asked::post("p1=xxxxxxxxx&".repeat(size / 13)).field("Content-Type", formed),
        ),
        Input::of(
            "form, includes texts",
            form_includes(json!({ "contains": "z" })),
            Asked::post("p1=xxxxxxxxx&".repeat(size / 13)).field("Content-Type", formed),
        ),
        Input::of(
            "form, includes a look-ahead",
            form_includes(json!({ "matches": "(x+x+)+y(?!z)" })),
            Asked::post("p1=xxxxxxxxx&".repeat(size / 13)).field("Content-Type", formed),
        ),
        Input::of(
            "form, includes documents",
            form_includes(json!({ "equalToJson": { "a": 1 } })),
            Asked::post("p1=xxxxxxxxx&".repeat(size / 13)).field("Content-Type", formed),
        ),
        Input::of(
            "form, fields beside many names",
            named("formParameters"),
            Asked::post("p1=xxxxxxxxx&".repeat(size / 13)).field("Content-Type", formed),
        ),
        Input::of(
            "path template",
            template_url,
            Asked::get(&format!("/a{}", "/b".repeat(short / 2))),
        ),
        parts("multipart, parts", &part),
        parts("multipart, small XML", &small("<a>", "<b/>", "</a>")),
        Input::of(
            "multipart, small trees of JSON",
            json!({ "request": { "url": "/a", "multipartPatterns": [{ "bodyPatterns": [{ "matchesJsonSchema": { "type": "string" } }] }] }, "response": { "status": 200 } }),
            Asked::post(small("[", "{\"a\":0},", "0]")).field("Content-Type", boundary),
        ),
        parts("multipart, fields of a part", &many_fields),
        parts("multipart, delimiters alone", &dashes),
    ]
}
