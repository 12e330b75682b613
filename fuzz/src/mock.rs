//! The memory that a request may cost the mock: one body against a stub for every matcher and for every group of helpers, whose memory is
//! counted.
//!
//! A costly body repeats itself, and inputs are short: an input says which of its pieces is repeated, and how often.

use plimsoll_mock::fuzzing::{Mock, Outcome};
use serde_json::{Value, json};

/// Bytes for each byte of a stub and its request, and for any.
const EACH: usize = 16;
const ANY: usize = 8 << 20;
/// Bytes of a body at most: so many that a few dozen bytes for each stand out from those for any.
const LONGEST: usize = 400_000;

/// A stub, and the kind of body that it wants.
#[derive(Debug)]
pub struct Stub {
    mapping: String,
    mock: Mock,
    content_type: &'static str,
}

/// An input: which stub is asked, and with what.
#[derive(Debug, PartialEq, Eq)]
pub struct Case {
    place: usize,
    body: Vec<u8>,
}

const TEXT: &str = "text/plain";
const FORM: &str = "application/x-www-form-urlencoded";
const PARTS: &str = "multipart/form-data; boundary=b";

impl Case {
    /// The case that these bytes make: the stub, how often the middle is repeated, and where it begins and ends.
    pub fn of(bytes: &[u8]) -> Self {
        let (head, rest) = bytes.split_at(bytes.len().min(4));
        let at = |place: usize| usize::from(head.get(place).copied().unwrap_or_default());
        let begin = at(2).min(rest.len());
        let end = (begin + at(3)).min(rest.len());
        let (before, middle, after) = (&rest[..begin], &rest[begin..end], &rest[end..]);
        let room = LONGEST.saturating_sub(rest.len());
        let times = (1 + at(1) * at(1)).min(1 + room / middle.len().max(1));
        Self {
            place: at(0),
            body: [before, &middle.repeat(times), after].concat(),
        }
    }

    /// The stub that it asks.
    fn stub<'s>(&self, stubs: &'s [Stub]) -> &'s Stub {
        &stubs[self.place % stubs.len()]
    }
}

impl Stub {
    /// The outcome of a body.
    pub fn ask(&self, body: &[u8]) -> Outcome {
        let length = body.len();
        let kind = self.content_type;
        let head = format!(
            "POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
        );
        let outcome = self.mock.ask(head.as_bytes(), body);
        outcome.expect("the head is one")
    }

    /// Memory that it may take for a body.
    fn allowed(&self, body: &[u8]) -> usize {
        // A packed one counts with what it may be unpacked to.
        let packed = body.starts_with(&[0x1f, 0x8b]);
        let unpacked = if packed {
            (1 << 20) + 16 * body.len()
        } else {
            0
        };
        ANY + EACH * (self.mapping.len() + body.len() + unpacked)
    }
}

/// Asks the stub of a case; `measure` says how many bytes were taken at the most while it ran.
pub fn check(stubs: &[Stub], bytes: &[u8], measure: impl FnOnce(&dyn Fn()) -> usize) {
    let case = Case::of(bytes);
    let stub = case.stub(stubs);
    let most = measure(&|| {
        stub.ask(&case.body);
    });
    let allowed = stub.allowed(&case.body);
    assert!(
        most <= allowed,
        "{most} bytes of memory for a body of {}, {allowed} are allowed: {}",
        case.body.len(),
        stub.mapping
    );
}

/// Every stub, each asked once: what it prepares when it is first asked is there.
pub fn stubs() -> Vec<Stub> {
    let bodies = BODIES.iter().map(|pattern| {
        let pattern: Value = serde_json::from_str(pattern).expect("the pattern is JSON");
        (json!({"bodyPatterns": [pattern]}), TEXT, "")
    });
    let parts = BODIES.iter().map(|pattern| {
        let pattern: Value = serde_json::from_str(pattern).expect("the pattern is JSON");
        let part = json!({"matchingType": "ANY", "headers": {"A": {"equalTo": "x"}}, "bodyPatterns": [pattern]});
        (json!({"multipartPatterns": [part]}), PARTS, "")
    });
    let values = VALUES.iter().map(|pattern| {
        let pattern: Value = serde_json::from_str(pattern).expect("the pattern is JSON");
        (
            json!({"formParameters": {"a": pattern, "b": {"absent": true}}}),
            FORM,
            "",
        )
    });
    let templates = TEMPLATES.iter().map(|text| (json!({}), TEXT, *text));
    let all = bodies.chain(parts).chain(values).chain(templates);
    all.map(|(request, content_type, text)| stub(request, content_type, text))
        .collect()
}

fn stub(request: Value, content_type: &'static str, text: &str) -> Stub {
    let response = json!({"status": 200, "body": text, "transformers": ["response-template"]});
    let mapping = json!({"request": request, "response": response}).to_string();
    let mock = match Mock::of(&mapping) {
        Ok(mock) => mock,
        Err(problems) => panic!("{mapping}: {problems}"),
    };
    let stub = Stub {
        mapping,
        mock,
        content_type,
    };
    for body in [&b""[..], b"{\"a\": 1}", b"<a/>", b"a=1"] {
        stub.ask(body);
    }
    stub
}

/// A pattern on a body, and on a part's, for every matcher.
const BODIES: &[&str] = &[
    r#"{"equalTo": "y"}"#,
    r#"{"equalTo": "y", "caseInsensitive": true}"#,
    r#"{"contains": "yy"}"#,
    r#"{"doesNotContain": "x"}"#,
    r#"{"matches": "(x+x+)+y"}"#,
    r#"{"matches": "(?<=a)(x+x+)+y"}"#,
    r#"{"doesNotMatch": "(x*)(x*)\\1\\2y"}"#,
    r#"{"binaryEqualTo": "AAAA"}"#,
    r#"{"before": "2026-01-01T00:00:00Z"}"#,
    r#"{"after": "now -3 days", "actualFormat": "yyyy-MM-dd"}"#,
    r#"{"equalToDateTime": "2026-01-01T00:00:00Z", "truncateActual": "first day of month"}"#,
    r#"{"matchesPathTemplate": "/a/{b}/{c}"}"#,
    r#"{"equalToJson": {"a": [1, {"b": "c"}]}}"#,
    r#"{"equalToJson": [{}, 1, "${json-unit.any-string}"], "ignoreArrayOrder": true, "ignoreExtraElements": true}"#,
    r#"{"matchesJsonPath": "$..*..*"}"#,
    r#"{"matchesJsonPath": "$[?(@[?(@.a == 1)])]"}"#,
    r#"{"matchesJsonPath": {"expression": "$..*", "contains": "zz"}}"#,
    r#"{"matchesJsonSchema": {"type": "object", "patternProperties": {"^(k+)+$": {"type": "string"}}, "uniqueItems": true}}"#,
    r#"{"matchesJsonSchema": {"items": {"uniqueItems": true, "type": "array"}}}"#,
    r#"{"equalToXml": "<a><b c='d'>e</b><b/></a>"}"#,
    r#"{"equalToXml": "<a>${xmlunit.ignore}</a>", "enablePlaceholders": true, "ignoreOrderOfSameNode": true, "namespaceAwareness": "LEGACY"}"#,
    r#"{"matchesXPath": "//a//a//a[b]"}"#,
    r#"{"matchesXPath": "//a[. = 'x'][count(preceding-sibling::*) < 0]"}"#,
    r#"{"matchesXPath": "//namespace::*[. = 'x']"}"#,
    r#"{"matchesXPath": {"expression": "//a", "contains": "zz"}}"#,
    r#"{"and": [{"matchesJsonPath": "$.a"}, {"matchesXPath": "//a"}]}"#,
    r#"{"or": [{"equalToJson": {"a": 1}}, {"equalToXml": "<b/>"}]}"#,
    r#"{"not": {"matchesJsonSchema": {"type": "array"}}}"#,
];

/// A pattern on the values of a field.
const VALUES: &[&str] = &[
    r#"{"equalTo": "a text to which edits are counted"}"#,
    r#"{"hasExactly": [{"equalTo": "x"}, {"matches": "(x+)+y"}]}"#,
    r#"{"includes": [{"contains": "x"}, {"equalToJson": {"a": 1}}, {"equalToXml": "<a/>"}]}"#,
];

/// Templates with every helper that reads or writes a text.
const TEMPLATES: &[&str] = &[
    "{{request.body}}{{request.body}}{{request.bodyAsBase64}}{{request.parts}}",
    "{{#each (parseJson request.body)}}{{@key}}{{this}}{{#each this}}{{this}}{{/each}}{{/each}}",
    "{{#with (parseJson request.body)}}{{a}}{{lookup this 'b'}}{{size this}}{{/with}}",
    "{{jsonPath request.body '$..*'}}",
    "{{#each (jsonPath request.body '$..a')}}{{this}}{{/each}}",
    "{{formatJson request.body}}{{toJson (parseJson request.body)}}",
    "{{jsonMerge request.body request.body}}",
    "{{jsonArrayAdd request.body '1'}}{{jsonRemove request.body '$.a'}}",
    "{{xPath request.body '//a'}}{{soapXPath request.body '//a'}}",
    "{{#each (xPath request.body '//a')}}{{this.name}}{{this.text}}{{this.attributes}}{{/each}}",
    "{{formatXml request.body}}",
    "{{formData request.body 'x' urlDecode=true}}{{x.a}}{{toJson x}}",
    "{{replace request.body 'x' request.body}}{{cut request.body 'x'}}",
    "{{join request.body request.body request.body ','}}{{arrayJoin request.body (parseJson '[0,0,0]')}}",
    "{{wordWrap request.body 5}}{{stripTags request.body}}{{slugify request.body}}",
    "{{upper request.body}}{{lower request.body}}{{capitalize request.body}}{{abbreviate request.body 5}}",
    "{{regexExtract request.body '(x+x+)+y'}}{{regexExtract request.body '[a-z]' 'm'}}{{m}}",
    "{{#if (matches request.body '(x*)*y(?!z)')}}1{{/if}}{{contains request.body request.body}}",
    "{{base64 request.body}}{{urlEncode request.body}}{{trim request.body}}{{substring request.body 1 5}}",
    "{{numberFormat request.body '#,##0.00'}}{{math request.body '*' request.body}}",
    "{{stringFormat request.body request.body}}{{stringFormat '%s%s%5s' request.body 1 2}}",
    "{{dateFormat (parseDate request.body) 'yyyy'}}{{parseDate request.body format='dd/MM/yyyy'}}{{now offset=request.body}}",
    "{{range 0 request.body}}{{#each (range 0 request.body)}}{{@index}}{{/each}}",
    "{{center 'x' size=request.body}}{{ljust 'x' size=request.body}}{{randomValue length=request.body}}",
    "{{#assign 'x'}}{{request.body}}{{/assign}}{{#assign 'x'}}{{x}}{{x}}{{x}}{{x}}{{/assign}}{{#assign 'x'}}{{x}}{{x}}{{x}}{{x}}{{/assign}}{{x}}",
    "{{toJson (arrayAdd (parseJson request.body) 1)}}{{toJson (arrayRemove (parseJson request.body) 0)}}{{array request.body request.body}}",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_repeats_a_piece_of_itself() {
        let check = |bytes: &[u8], expected: &str| {
            assert_eq!(String::from_utf8_lossy(&Case::of(bytes).body), expected);
        };
        check(b"", "");
        check(&[0, 2, 1, 2, b'a', b'b', b'c', b'd'], "abcbcbcbcbcd");
        check(&[0, 0, 9, 9, b'a'], "a");
        let long = Case::of(&[0, 255, 0, 255, b'a', b'b', b'c', b'd', b'e', b'f', b'g']);
        assert!(long.body.len() <= LONGEST + 8, "{}", long.body.len());
    }

    #[test]
    fn every_stub_takes_every_kind_of_body() {
        let stubs = stubs();
        for (place, stub) in stubs.iter().enumerate() {
            for body in [
                &b"x"[..],
                b"[1, 2, {\"a\": \"b\"}]",
                b"<a><a>x</a></a>",
                b"a=x&a=y",
                b"--b\r\nA: x\r\n\r\n<a/>\r\n--b--",
            ] {
                let outcome = stub.ask(body);
                assert_ne!(outcome, Outcome::TooCostly, "{place}: {}", stub.mapping);
                assert_ne!(outcome, Outcome::Unmatched(0), "{place}: {}", stub.mapping);
            }
        }
    }

    #[test]
    #[should_panic(expected = "are allowed")]
    fn memory_out_of_proportion_is_noticed() {
        let run = |asked: &dyn Fn()| {
            asked();
            ANY + EACH * 10_000
        };
        check(&stubs(), b"abcdefg", run);
    }
}
