//! The journal over the admin API: what is listed, counted and removed, and that totals stay exact when little is kept.

use crate::world::{Client, Mock, config};
use plimsoll_mock::{JournalLimits, MockConfig};
use serde_json::{Value, json};

const ID: &str = "5c3ab2a8-1f07-4d6e-9b9c-0123456789ab";

fn stub() -> String {
    json!({
        "id": ID, "name": "n", "metadata": {"team": "red"},
        "request": {"urlPath": "/x"},
        "response": {"status": 201, "body": "hi", "headers": {"A": "b"}},
    })
    .to_string()
}

fn urls(list: &Value) -> Vec<&str> {
    let url = |item: &Value| {
        item.get("url")
            .or_else(|| item.pointer("/request/url"))
            .cloned()
    };
    let items = list["requests"].as_array().unwrap();
    assert!(items.iter().all(|item| url(item).is_some()));
    items
        .iter()
        .map(|item| {
            let url = item.get("url").or_else(|| item.pointer("/request/url"));
            url.unwrap().as_str().unwrap()
        })
        .collect()
}

fn post(client: &mut Client, route: &str, body: &Value) -> Value {
    let answer = client.send("POST", &format!("/__admin{route}"), &body.to_string());
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

#[test]
fn a_request_is_shown_with_what_answered_it() {
    let mock = Mock::with_stubs(&[&stub()]);
    let mut client = mock.client();
    client.write(
        "POST /x?a=1&b=2&b=%33 HTTP/1.1\r\nHost: localhost:8080\r\nCookie: c=d; e=f\r\nX: 1\r\nX: 2\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n\r\nf=1&g=+h+",
    );
    client.read("POST");
    let listed = client.get("/__admin/requests").json();
    assert_eq!(
        (&listed["meta"], &listed["requestJournalDisabled"]),
        (&json!({"total": 1}), &json!(false))
    );
    let event = &listed["requests"][0];
    let request = &event["request"];
    assert!(request["loggedDate"].as_i64().unwrap() > 1_700_000_000_000);
    assert_eq!(event["stubMapping"]["id"], ID);
    let expected = json!({
        "url": "/x?a=1&b=2&b=%33",
        "absoluteUrl": "http://localhost:8080/x?a=1&b=2&b=%33",
        "method": "POST",
        "clientIp": "127.0.0.1",
        "headers": {
            "Host": "localhost:8080", "Cookie": "c=d; e=f", "X": ["1", "2"],
            "Content-Type": "application/x-www-form-urlencoded", "Content-Length": "9",
        },
        "cookies": {"c": "d", "e": "f"},
        "browserProxyRequest": false,
        "loggedDate": request["loggedDate"],
        "bodyAsBase64": "Zj0xJmc9K2gr",
        "body": "f=1&g=+h+",
        "protocol": "HTTP/1.1",
        "scheme": "http",
        "host": "localhost",
        "port": 8080,
        "loggedDateString": request["loggedDateString"],
        "queryParams": {
            "a": {"key": "a", "values": ["1"]}, "b": {"key": "b", "values": ["2", "3"]},
        },
        "formParams": {
            "f": {"key": "f", "values": ["1"]}, "g": {"key": "g", "values": [" h "]},
        },
    });
    assert_eq!(request, &expected);
    assert_eq!(
        event["response"],
        json!({
            "status": 201,
            "headers": {"A": "b", "Matched-Stub-Id": ID, "Matched-Stub-Name": "n"},
            "bodyAsBase64": "aGk=",
            "body": "hi",
        })
    );
    let id = event["id"].as_str().unwrap();
    let path = format!("/__admin/requests/{id}");
    assert_eq!(&client.get(&path).json(), event);
    assert_eq!(client.send("DELETE", &path, "").status, 200);
    assert_eq!(client.get(&path).status, 404);
}

#[test]
fn the_list_is_newest_first_and_can_be_narrowed() {
    let mock = Mock::with_stubs(&[&stub()]);
    let mut client = mock.client();
    for url in ["/x?1", "/nothing", "/x?2", "/json/valid"] {
        client.get(url);
    }
    let mut check = |query: &str, expected: &[&str], total: u64| {
        let listed = client.get(&format!("/__admin/requests{query}")).json();
        assert_eq!(urls(&listed), expected, "{query}");
        assert_eq!(listed["meta"]["total"], total, "{query}");
    };
    check("", &["/json/valid", "/x?2", "/nothing", "/x?1"], 4);
    check("?limit=1", &["/json/valid"], 4);
    check("?unmatched=true", &["/nothing"], 1);
    check(&format!("?matchingStub={ID}&limit=1"), &["/x?2"], 2);
    check("?since=2999-01-01T00:00:00Z", &[], 4);
    check("?since=1999-01-01T00:00:00Z&limit=1", &["/json/valid"], 4);
    for (query, code) in [("limit=x", 10), ("since=x", 10), ("matchingStub=x", 15)] {
        let refused = client.get(&format!("/__admin/requests?{query}"));
        assert_eq!(
            (refused.status, &refused.json()["errors"][0]["code"]),
            (400, &json!(code)),
            "{query}"
        );
    }
}

#[test]
fn requests_are_counted_found_and_removed_by_pattern() {
    let mock = Mock::with_stubs(&[&stub()]);
    let mut client = mock.client();
    for url in ["/x?1", "/nothing", "/x?2"] {
        client.get(url);
    }
    let client = &mut client;
    let of_x = json!({"urlPath": "/x", "method": "GET"});
    assert_eq!(post(client, "/requests/count", &of_x)["count"], 2);
    assert_eq!(post(client, "/requests/count", &json!({}))["count"], 3);
    assert_eq!(
        urls(&post(client, "/requests/find", &of_x)),
        ["/x?1", "/x?2"]
    );
    assert_eq!(
        urls(&client.get("/__admin/requests/unmatched").json()),
        ["/nothing"]
    );
    let refused = client.send("POST", "/__admin/requests/count", r#"{"urlx": 1}"#);
    assert_eq!(
        (refused.status, &refused.json()["errors"][0]["source"]),
        (422, &json!({"pointer": "/urlx"}))
    );
    let removed = post(client, "/requests/remove", &json!({"url": "/x?1"}));
    assert_eq!(removed["serveEvents"][0]["request"]["url"], "/x?1");
    let by_metadata = json!({"contains": "red"});
    let removed = post(client, "/requests/remove-by-metadata", &by_metadata);
    assert_eq!(removed["serveEvents"].as_array().unwrap().len(), 1);
    assert_eq!(post(client, "/requests/count", &json!({}))["count"], 1);
    assert_eq!(client.send("DELETE", "/__admin/requests", "").text(), "{}");
    assert_eq!(post(client, "/requests/count", &json!({}))["count"], 0);
}

#[test]
fn stubs_that_answered_nothing_are_known_even_if_the_journal_forgot() {
    let unused = r#"{"name": "unused", "request": {"url": "/y"}}"#;
    let mock = Mock::start(MockConfig {
        journal: JournalLimits {
            entries: 1,
            ..JournalLimits::default()
        },
        ..config()
    });
    let mut client = mock.client();
    for stub in [&stub(), unused] {
        client.send("POST", "/__admin/mappings", stub);
    }
    client.get("/x");
    client.get("/nothing");
    let mut unmatched = |expected: &[&str]| {
        let list = client.get("/__admin/mappings/unmatched").json();
        let names: Vec<_> = list["mappings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|stub| stub["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, expected);
    };
    unmatched(&["unused"]);
    mock.client().send("DELETE", "/__admin/requests", "");
    unmatched(&["unused", "n"]);
    client.get("/x");
    client.send("DELETE", "/__admin/mappings/unmatched", "");
    assert_eq!(client.get("/__admin/mappings").json()["meta"]["total"], 1);
}

#[test]
fn totals_are_exact_over_shards_when_little_is_kept() {
    const CLIENTS: usize = 8;
    const EACH: usize = 50;
    let mock = Mock::start(MockConfig {
        shards: 2,
        journal: JournalLimits {
            entries: 10,
            ..JournalLimits::default()
        },
        ..config()
    });
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut client = mock.client();
                for number in 0..EACH {
                    client.get(&format!("/{number}"));
                }
            });
        }
    });
    let mut client = mock.client();
    let listed = client.get("/__admin/requests");
    let dropped = CLIENTS * EACH - 10;
    assert_eq!(listed.json()["meta"]["total"], CLIENTS * EACH);
    assert_eq!(listed.json()["requests"].as_array().unwrap().len(), 10);
    assert_eq!(
        listed.field("Plimsoll-Journal-Dropped"),
        Some(&*dropped.to_string())
    );
}

#[test]
fn a_mock_without_a_journal_says_so() {
    let mock = Mock::start(MockConfig {
        journal: JournalLimits {
            entries: 0,
            ..JournalLimits::default()
        },
        ..config()
    });
    let mut client = mock.client();
    client.get("/x");
    let listed = client.get("/__admin/requests").json();
    let expected = json!({"requests": [], "meta": {"total": 0}, "requestJournalDisabled": true});
    assert_eq!(listed, expected);
    assert_eq!(
        post(&mut client, "/requests/count", &json!({})),
        json!({"count": -1, "requestJournalDisabled": true})
    );
}

#[test]
fn a_body_that_nobody_needs_is_never_a_reason_to_refuse() {
    let mock = Mock::with_stubs(&[r#"{"request": {"url": "/x"}}"#]);
    let mut client = mock.client();
    let long = "x".repeat(2 << 20);
    assert_eq!(client.send("POST", "/x", &long).status, 200);
    let listed = client.get("/__admin/requests").json();
    assert_eq!(listed["requests"][0]["request"]["body"], "");
}

/// Distances are WireMock 3.13.2's to the last digit.
fn distances(misses: &Value) -> Vec<(String, f64)> {
    let misses = misses["nearMisses"].as_array().unwrap();
    misses
        .iter()
        .map(|miss| {
            let name = miss
                .pointer("/stubMapping/name")
                .or(miss.pointer("/request/url"));
            let distance = &miss["matchResult"]["distance"];
            (
                name.unwrap().as_str().unwrap().to_owned(),
                distance.as_f64().unwrap(),
            )
        })
        .collect()
}

fn near(actual: &[(String, f64)], expected: &[(&str, f64)]) {
    assert_eq!(actual.len(), expected.len(), "{actual:?}");
    for ((name, distance), (expected_name, expected)) in actual.iter().zip(expected) {
        assert_eq!(name, expected_name, "{actual:?}");
        assert!((distance - expected).abs() < 1e-12, "{actual:?}");
    }
}

#[test]
fn near_misses_are_those_of_wiremock() {
    let mock = Mock::with_stubs(&[
        r#"{"name": "x", "request": {"url": "/x", "method": "GET"}}"#,
        r#"{"name": "y", "request": {"urlPath": "/y", "method": "POST"}}"#,
        r#"{"name": "far", "request": {"urlPattern": "/a+", "method": "PUT"}}"#,
        r#"{"name": "farther", "request": {"urlPattern": "/b+", "method": "PUT", "port": 1}}"#,
    ]);
    let mut client = mock.client();
    client.get("/zzz");
    let of_unmatched = client.get("/__admin/requests/unmatched/near-misses").json();
    let expected = [("x", 7.5 / 39.0), ("y", 10.5 / 39.0), ("far", 13.0 / 39.0)];
    near(&distances(&of_unmatched), &expected);
    assert_eq!(of_unmatched["nearMisses"][0]["request"]["url"], "/zzz");

    let described = json!({
        "url": "/xy", "absoluteUrl": "http://localhost/xy", "method": "GET", "headers": {"A": ["b", "c"]},
    });
    let of_request = post(&mut client, "/near-misses/request", &described);
    near(
        &distances(&of_request)[..2],
        &[("x", 10.0 / 3.0 / 39.0), ("y", (10.0 / 3.0 + 3.0) / 39.0)],
    );
    let mut shown = described;
    shown["queryParams"] = json!({});
    shown["formParams"] = json!({});
    assert_eq!(of_request["nearMisses"][0]["request"], shown);

    let pattern = json!({"url": "/zz", "method": "GET"});
    let of_pattern = post(&mut client, "/near-misses/request-pattern", &pattern);
    near(&distances(&of_pattern), &[("/zzz", 2.5 / 39.0)]);
    assert_eq!(of_pattern["nearMisses"][0]["requestPattern"], pattern);

    for body in [
        "zz",
        r#"{"url": "/a b"}"#,
        r#"{"url": "/", "headers": {"A": "b\r\n\r\nGET / HTTP/1.1"}}"#,
    ] {
        let refused = client.send("POST", "/__admin/near-misses/request", body);
        assert_eq!(refused.status, 422, "{body}");
    }
}

/// The kinds of sub-events of the newest request.
fn kinds(client: &mut Client) -> Vec<String> {
    let requests = client.get("/__admin/requests").json();
    let events = requests["requests"][0]["subEvents"].as_array().unwrap();
    let kind = |event: &Value| event["type"].as_str().unwrap().to_owned();
    events.iter().map(kind).collect()
}

#[test]
fn what_patterns_could_not_read_is_told_with_the_request() {
    let mut settings = config();
    settings.differences_per_second = 1_000_000;
    let mock = Mock::start(settings);
    let mut client = mock.client();
    for pattern in [
        json!({"equalToJson": {"a": 1}}),
        json!({"equalToJson": {"a": 2}}),
        json!({"matchesJsonPath": "$.a"}),
        json!({"equalToXml": "<a/>"}),
        json!({"equalToXml": "<b/>"}),
        json!({"matchesXPath": "/a"}),
    ] {
        let path = format!("/{}", pattern.as_object().unwrap().keys().next().unwrap());
        let stub = json!({"request": {"urlPath": path, "bodyPatterns": [pattern]}});
        client.send("POST", "/__admin/mappings", &stub.to_string());
    }
    let mut check = |path: &str, body: &str, expected: &[&str]| {
        client.send("POST", path, body);
        assert_eq!(kinds(&mut client), expected, "{path} {body}");
    };
    let unmatched = "REQUEST_NOT_MATCHED";
    check("/equalToJson", "{\"a\": ", &["JSON_ERROR", unmatched]);
    check("/equalToJson", "{}", &[unmatched]);
    check("/equalToJson", "{\"a\": 1}", &[]);
    check("/matchesJsonPath", "<a/>", &["WARNING", unmatched]);
    check("/equalToXml", "{}", &["WARNING", unmatched]);
    check("/equalToXml", "", &[unmatched]);
    check("/matchesXPath", "{}", &["WARNING", unmatched]);
    check("/other", "{", &[unmatched]);
    // A stub that comes later may match all the same.
    client.send("POST", "/__admin/mappings", r#"{"priority": 9}"#);
    client.send("POST", "/equalToJson", "no JSON");
    assert_eq!(kinds(&mut client), ["JSON_ERROR"]);
    client.send("DELETE", "/__admin/mappings", "");
    client.send(
        "POST",
        "/__admin/mappings",
        r#"{"request": {"url": "/near"}}"#,
    );
    client.get("/nearer");
    let requests = client.get("/__admin/requests").json();
    let event = &requests["requests"][0]["subEvents"][0];
    assert!(event["timeOffsetNanos"].as_u64().unwrap() > 0);
    assert_eq!(event["data"]["contentType"], "text/plain");
    assert!(event["data"]["report"].as_str().unwrap().contains("/near"));
}

#[test]
fn so_much_is_shown_of_an_answer_as_is_asked_for() {
    let mut settings = config();
    settings.journal.shown_body = 4;
    let mock = Mock::start(settings);
    let mut client = mock.client();
    for body in ["12345", "123"] {
        let stub = json!({"response": {"body": body}});
        client.send("POST", "/__admin/mappings", &stub.to_string());
        assert_eq!(client.get("/").text(), body);
        let events = client.get("/__admin/requests").json();
        let shown = &events["requests"][0]["response"]["body"];
        assert_eq!(shown, &body[..body.len().min(4)]);
    }
}
