//! Values that are too costly to judge match nothing; values that are merely long are judged as ever.

use crate::world::Mock;
use serde_json::{Value, json};

fn stub(pattern: &Value) -> String {
    json!({"request": {"url": "/a", "method": "POST", "bodyPatterns": [pattern]}, "response": {"status": 201}}).to_string()
}

/// Answers whatever no other stub does.
const ANYTHING: &str = r#"{"priority": 9, "request": {}, "response": {"status": 202}}"#;

#[test]
fn what_is_too_costly_matches_nothing() {
    let deep = format!("{}{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    let zeros = format!("[{}0]", "0,".repeat(200_000));
    let check = |pattern: &Value, body: &str| {
        let own = stub(pattern);
        let negated = stub(&json!({ "not": pattern }));
        let either = stub(&json!({"or": [pattern, {"anything": "(always)"}]}));
        for own in [own, negated, either] {
            let mock = Mock::with_stubs(&[ANYTHING, &own]);
            let mut client = mock.client();
            assert_eq!(client.send("POST", "/a", body).status, 500, "{own}");
            let unmatched = client.get("/__admin/mappings/unmatched").json();
            assert_eq!(unmatched["mappings"].as_array().unwrap().len(), 2, "{own}");
            let journal = client.get("/__admin/requests").json();
            assert_eq!(journal["requests"][0]["wasMatched"], false, "{own}");
            let near = client.get("/__admin/requests/unmatched/near-misses");
            assert_eq!(near.status, 200, "{own}");
            // One that costs little is answered as ever.
            assert_ne!(client.send("POST", "/a", "x").status, 500, "{own}");
            mock.stop();
        }
    };
    check(&json!({"matchesXPath": "//a//a//a[b]"}), &deep);
    let attributes: String = (0..10_000).map(|n| format!("a{n}='' ")).collect();
    let attributes = format!("<a {attributes}/>");
    check(&json!({"equalToXml": "<a/>"}), &attributes);
    check(&json!({"matchesJsonPath": "$..*..*..*"}), &zeros);
    check(&json!({"matchesJsonSchema": {"type": "array"}}), &zeros);
    check(&json!({"matches": "(x+x+)+y(?!z)"}), &"x".repeat(10_000));
}

#[test]
fn what_is_long_is_judged_as_ever() {
    // 2 MB and 100,000 values, and 1 MB and 30,000 elements.
    let item = |n: usize| json!({"id": n, "name": format!("the name of item {n:05}"), "price": 1.5, "note": "as sold, with a few words"});
    let document = json!({"items": (0..20_000).map(item).collect::<Vec<_>>()});
    let mut turned = document.clone();
    turned["items"].as_array_mut().unwrap().reverse();
    let text = document.to_string();
    let row = |n: usize| {
        format!(
            "  <row id='{n}'>\n    <name>the name of row {n:05}</name>\n    <price>1.5</price>\n    <note>as sold, with words</note>\n    <sum>1</sum>\n  </row>\n"
        )
    };
    let rows: String = (0..6_000).map(row).collect();
    let rows = format!("<rows>\n{rows}</rows>");
    assert!(text.len() > 1_800_000 && rows.len() > 850_000);
    let check = |pattern: &Value, body: &str, expected: u16| {
        let mock = Mock::with_stubs(&[&stub(pattern)]);
        let answered = mock.client().send("POST", "/a", body);
        let shown: String = pattern.to_string().chars().take(100).collect();
        assert_eq!(answered.status, expected, "{shown}: {}", answered.text());
        mock.stop();
    };
    check(&json!({ "equalToJson": document }), &text, 201);
    let any_order = json!({"equalToJson": turned, "ignoreArrayOrder": true});
    check(&any_order, &text, 201);
    let paths = ["$.items[?(@.id == 19999)]", "$..name", "$.items[19999].id"];
    for path in paths {
        check(&json!({ "matchesJsonPath": path }), &text, 201);
    }
    check(&json!({"matchesJsonPath": "$.items[20000]"}), &text, 404);
    let schema = json!({"properties": {"items": {"items": {"required": ["id", "name"]}}}});
    check(&json!({ "matchesJsonSchema": schema }), &text, 201);
    check(&json!({"contains": "item 19999"}), &text, 201);
    check(&json!({"matches": "(?s).*item 19999.*"}), &text, 201);
    check(&json!({ "equalToXml": rows }), &rows, 201);
    for path in [
        "//row[@id = '5999']/name",
        "/rows/row/sum",
        "//name[. = 'the name of row 05999']",
        "//row/price/text()",
        "count(//row)",
    ] {
        check(&json!({ "matchesXPath": path }), &rows, 201);
    }
    let found = json!({"matchesXPath": {"expression": "/rows/row[6000]/name/text()", "equalTo": "the name of row 05999"}});
    check(&found, &rows, 201);
    check(&json!({"matchesXPath": "//row[@id = '6000']"}), &rows, 404);
}

#[test]
fn a_list_to_import_has_so_many_mappings() {
    let mock = Mock::with_stubs(&[]);
    let mut client = mock.client();
    let list = |count: usize| format!("{{\"mappings\": [{}{{}}]}}", "{},".repeat(count - 1));
    let mut import = |count: usize| client.send("POST", "/__admin/mappings/import", &list(count));
    assert_eq!(import(1_000).status, 200);
    let refused = import(4_000);
    assert_eq!(refused.status, 422);
    let error = &refused.json()["errors"][0];
    assert_eq!(
        error["detail"],
        "more than 1120 mappings in 12015 bytes: import fewer at a time"
    );
    assert_eq!(import(100_000).status, 422);
    let total = &mock.client().get("/__admin/mappings?limit=1").json()["meta"]["total"];
    assert_eq!(*total, json!(1_000));
    mock.stop();
}
