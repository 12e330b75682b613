//! The inputs: what is asked, which stubs it meets, and which requests the journal has before.

use serde_json::{Value, json};
use std::fmt::Write as _;

/// One adversarial input.
pub struct Input {
    pub what: String,
    pub stubs: Vec<Value>,
    /// The requests before it, which the journal has to search.
    pub before: Vec<Asked>,
    pub asked: Asked,
}

/// A request.
pub struct Asked {
    line: String,
    fields: String,
    body: Vec<u8>,
}

impl Input {
    /// All that is searched, read or written for it.
    pub fn bytes(&self) -> usize {
        let stubs: usize = self.stubs.iter().map(|stub| stub.to_string().len()).sum();
        let asked = self.before.iter().chain([&self.asked]);
        stubs + asked.map(|asked| asked.bytes().len()).sum::<usize>()
    }

    /// Bodies of this length are waited for under callgrind, too.
    pub fn flags(&self) -> Vec<&'static str> {
        vec![
            "--shards=1",
            "--differences-per-second=100",
            "--max-request-journal-entries=10000",
            "--body-timeout=10m",
            "--head-timeout=60s",
        ]
    }

    fn of(what: &str, stub: Value, asked: Asked) -> Self {
        Self {
            what: what.to_owned(),
            stubs: vec![stub],
            before: Vec::new(),
            asked,
        }
    }
}

impl Asked {
    fn post(body: impl Into<Vec<u8>>) -> Self {
        Self {
            line: "POST /a".to_owned(),
            fields: String::new(),
            body: body.into(),
        }
    }

    fn get(path: &str) -> Self {
        Self {
            line: format!("GET {path}"),
            ..Self::post("")
        }
    }

    fn admin(path: &str, body: &Value) -> Self {
        Self {
            line: format!("POST /__admin{path}"),
            ..Self::post(body.to_string())
        }
    }

    fn field(mut self, name: &str, value: &str) -> Self {
        self.fields.push_str(&format!("{name}: {value}\r\n"));
        self
    }

    pub fn path(&self) -> &str {
        &self.line
    }

    pub fn bytes(&self) -> Vec<u8> {
        let length = self.body.len();
        let (line, fields) = (&self.line, &self.fields);
        let head = format!(
            "{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{fields}Content-Length: {length}\r\n\r\n"
        );
        [head.as_bytes(), &self.body].concat()
    }
}

/// The content type of a form.
const FORM: &str = "application/x-www-form-urlencoded";

/// A request that no stub of these answers, and that costs nothing.
pub fn harmless() -> Asked {
    Asked::get("/json/valid")
}

/// All of them, of about so many bytes.
pub fn all(size: usize) -> Vec<Input> {
    [
        xml(size),
        json_bodies(size),
        texts(size),
        parameters(size),
        templates(size),
        journals(size),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A stub for such a body, which does not match; it is the nearest, so the table of differences shows it.
fn body_stub(pattern: Value) -> Value {
    json!({ "request": { "url": "/a", "method": "POST", "bodyPatterns": [pattern] }, "response": { "status": 200 } })
}

/// A stub whose answer is this template.
fn template(text: &str) -> Value {
    json!({ "request": { "url": "/a" }, "response": { "status": 200, "body": text, "transformers": ["response-template"] } })
}

fn repeated(size: usize, one: impl Fn(usize) -> String) -> String {
    let mut text = String::with_capacity(size + 64);
    for number in 0.. {
        if text.len() >= size {
            break;
        }
        text.push_str(&one(number));
    }
    text
}

/// As deep as is read.
fn deep_xml(size: usize) -> String {
    let depth = size / 11;
    format!("{}{}", "<aaa>".repeat(depth), "</aaa>".repeat(depth))
}

#[expect(clippy::too_many_lines, reason = "a table of inputs")]
fn xml(size: usize) -> Vec<Input> {
    let deep = deep_xml(size);
    let wide = format!("<a>{}</a>", "<bbbb/>".repeat(size / 7));
    let mixed = format!("<a>{}</a>", "<bbbbbbbbbbbb/>x".repeat(size / 16));
    let differing = format!("<a>{}</a>", repeated(size, |n| format!("<b{n}/>")));
    let attributes = format!("<a {}/>", repeated(size, |n| format!("a{n}='' ")));
    // As many as a stub may have.
    let fewer = format!("<a {}/>", repeated(14_000, |n| format!("a{n}='' ")));
    let children = format!("<a>{}</a>", "<b>xxxxxxxxxx</b>".repeat(size / 17));
    let namespaces = format!("<a {}/>", repeated(size, |n| format!("xmlns:a{n}='u{n}' ")));
    let declaring = repeated(size, |n| format!("<a xmlns:p{n}='u'>"));
    let long = format!("<{0}>{1}</{0}>", "n".repeat(size / 3), "x".repeat(size / 3));
    let prolog = format!("{}<a/>", "<?p?>".repeat(size / 5));
    let signs = "<".repeat(size);
    let laughs = format!(
        "<!DOCTYPE l [<!ENTITY e '{}'>]><l>{}</l>",
        "x".repeat(size / 2),
        "&e;".repeat(size / 6)
    );
    let equal = |expected: &str| body_stub(json!({ "equalToXml": expected }));
    let path = |path: &str| body_stub(json!({ "matchesXPath": path }));
    let found =
        |path: &str| body_stub(json!({ "matchesXPath": { "expression": path, "contains": "z" } }));
    let of = |what: &str, stub: Value, text: &str| Input::of(what, stub, Asked::post(text));
    vec![
        of("equalToXml, 56 kB deep", equal("<b/>"), &deep_xml(56_000)),
        of("equalToXml, deep", equal("<b/>"), &deep),
        of("equalToXml, wide", equal("<b/>"), &wide),
        of("equalToXml, texts among elements", equal("<b/>"), &mixed),
        of("equalToXml, names that differ", equal("<b/>"), &differing),
        of("equalToXml, attributes", equal("<b/>"), &attributes),
        of(
            "equalToXml, as many attributes",
            equal(&fewer.replace("a9=''", "a9='x'")),
            &fewer,
        ),
        of(
            "equalToXml, equal children but the last",
            equal(&children.replace("xxx</b></a>", "xxy</b></a>")),
            &children,
        ),
        of(
            "equalToXml, other children",
            equal(&children.replace("<b>xxxxxxxxxx</b>", "<b/>xxxxxxxxxxxxx")),
            &children.replace("<b>xxxxxxxxxx</b>", "xxxxxxxxxxxxx<b/>"),
        ),
        of("equalToXml, namespaces", equal("<b/>"), &namespaces),
        of(
            "equalToXml, namespaces within each other",
            equal("<b/>"),
            &declaring,
        ),
        of("equalToXml, long name and text", equal("<b/>"), &long),
        of("equalToXml, instructions", equal("<b/>"), &prolog),
        of("equalToXml, entities", equal("<b/>"), &laughs),
        of("equalToXml, signs alone", equal("<b/>"), &signs),
        of(
            "matchesXPath //aaa//aaa//aaa, deep",
            path("//aaa//aaa//aaa[x]"),
            &deep,
        ),
        of(
            "matchesXPath preceding-sibling, wide",
            path("//bbbb[count(preceding-sibling::bbbb) < 0]"),
            &wide,
        ),
        of(
            "matchesXPath texts, deep",
            path("//aaa[. = 'x']"),
            &deep.replacen("</aaa>", "xxxxxxxxxxxxx</aaa>", 1),
        ),
        of(
            "matchesXPath many predicates, deep",
            path(&format!("//aaa{}", "[true()]".repeat(100))),
            &deep,
        ),
        of(
            "matchesXPath namespace::*, deep",
            path("//namespace::*[. = 'x']"),
            &declaring,
        ),
        of("matchesXPath with a pattern, deep", found("//aaa"), &deep),
        of(
            "formatXml, 140 kB deep",
            template("{{formatXml request.body}}"),
            &deep_xml(140_000),
        ),
        of(
            "formatXml, deep",
            template("{{formatXml request.body}}"),
            &deep,
        ),
        of(
            "xPath helper, deep",
            template("{{#each (xPath request.body '//aaa')}}{{this}}{{/each}}"),
            &deep,
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table of inputs")]
fn json_bodies(size: usize) -> Vec<Input> {
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

fn texts(size: usize) -> Vec<Input> {
    let long = "x".repeat(size);
    let lines = "x\n".repeat(size / 2);
    let of = |what: &str, stub: Value, text: &str| Input::of(what, stub, Asked::post(text));
    let pattern = |name: &str, operand: &str| body_stub(json!({ name: operand }));
    let packed = Asked::post(bomb()).field("Content-Encoding", "gzip");
    vec![
        of("equalTo, a long line", pattern("equalTo", "y"), &long),
        of(
            "equalTo, as long",
            pattern("equalTo", &"y".repeat(size)),
            &long,
        ),
        of("equalTo, lines", pattern("equalTo", "y"), &lines),
        of(
            "equalTo, spaces",
            pattern("equalTo", "y"),
            &" ".repeat(size),
        ),
        of(
            "contains, nearly",
            pattern("contains", &format!("{}y", "x".repeat(1_000))),
            &long,
        ),
        of(
            "matches, nested quantifiers",
            pattern("matches", "(x+x+)+y"),
            &long,
        ),
        of(
            "matches, a look-behind",
            pattern("matches", "(?<=a)(x+x+)+y"),
            &long,
        ),
        of(
            "matches, a back reference",
            pattern("matches", "(x*)(x*)(x*)\\1\\2\\3y"),
            &long,
        ),
        of(
            "doesNotMatch, alternatives",
            pattern("doesNotMatch", "(x|xx)+y(?!z)"),
            &long,
        ),
        of("binaryEqualTo", pattern("binaryEqualTo", "AAAA"), &long),
        of(
            "before",
            pattern("before", "2026-01-01T00:00:00Z"),
            &"1".repeat(size),
        ),
        Input::of(
            "equalTo, ten million bytes packed",
            pattern("equalTo", "y"),
            packed,
        ),
        Input::of(
            "equalToJson, ten million bytes packed",
            pattern("equalToJson", "[1]"),
            Asked::post(bomb()).field("Content-Encoding", "gzip"),
        ),
    ]
}

/// Ten million bytes of zeros as stored by gzip's own end of the scale: hand-made, a run of matches of 258 bytes each.
fn bomb() -> Vec<u8> {
    let mut bits = Bits::default();
    // A last block with fixed codes: one literal, then copies of it.
    bits.push(0b011, 3);
    bits.code(0x30 + u32::from(b'0'), 8);
    for _ in 0..9_999_999 / 258 {
        // Length 258 is code 285, distance 1 code 0.
        bits.code(0b1100_0101, 8);
        bits.code(0, 5);
    }
    bits.code(0, 7);
    let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let length = 1 + 9_999_999_usize / 258 * 258;
    let text = vec![b'0'; length];
    let mut tail = crc32(&text).to_le_bytes().to_vec();
    tail.extend(u32::try_from(length).unwrap_or_default().to_le_bytes());
    [&head[..], &bits.bytes, &tail].concat()
}

/// The checksum of gzip (RFC 1952 §8).
fn crc32(bytes: &[u8]) -> u32 {
    let of = |sum: u32| {
        (0..8).fold(sum, |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 & 0u32.wrapping_sub(sum & 1))
        })
    };
    !bytes.iter().fold(!0, |sum, byte| {
        (sum >> 8) ^ of((sum ^ u32::from(*byte)) & 255)
    })
}

/// Bits as deflate writes them (RFC 1951 §3.1.1).
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: usize,
}

impl Bits {
    fn push(&mut self, value: u32, count: usize) {
        for place in 0..count {
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            let bit = u8::from(value >> place & 1 == 1);
            if let Some(last) = self.bytes.last_mut() {
                *last |= bit << (self.used % 8);
            }
            self.used += 1;
        }
    }

    /// A Huffman code: its highest bit first.
    fn code(&mut self, code: u32, count: usize) {
        for place in (0..count).rev() {
            self.push(code >> place & 1, 1);
        }
    }
}

#[expect(clippy::too_many_lines, reason = "a table of inputs")]
fn parameters(size: usize) -> Vec<Input> {
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

#[expect(clippy::too_many_lines, reason = "a table of inputs")]
fn templates(size: usize) -> Vec<Input> {
    let of =
        |what: &str, text: &str, body: String| Input::of(what, template(text), Asked::post(body));
    let keys = format!("{{{}\"z\":0}}", repeated(size, |n| format!("\"k{n}\":0,")));
    let numbers = || format!("[{}0]", "0,".repeat(size / 2));
    let square =
        "{{#each (parseJson request.body)}}{{#each (parseJson request.body)}}x{{/each}}{{/each}}";
    let cube = "{{#each (range 0 9999)}}{{#each (range 0 9999)}}{{#each (range 0 9999)}}{{/each}}{{/each}}{{/each}}";
    let double = format!(
        "{}{}",
        "{{assign 'x' (stringFormat '%s%s' x x)}}",
        "{{#assign 'x'}}{{x}}{{x}}{{x}}{{x}}{{/assign}}".repeat(12)
    );
    vec![
        of(
            "template, the body many times",
            &"{{request.body}}".repeat(100),
            "x".repeat(size),
        ),
        of("template, lists within each other", square, numbers()),
        of("template, ranges within each other", cube, String::new()),
        of(
            "template, a text that grows",
            &format!("{{{{#assign 'x'}}}}{{{{request.body}}}}{{{{/assign}}}}{double}"),
            "x".repeat(1_000),
        ),
        of(
            "template, replace",
            "{{replace request.body 'x' request.body}}",
            "x".repeat(size),
        ),
        of(
            "template, join",
            "{{arrayJoin request.body (parseJson '[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]')}}",
            "x".repeat(size),
        ),
        of(
            "template, padding",
            "{{#each (range 0 9999)}}{{ljust 'x' size=1000000}}{{/each}}",
            String::new(),
        ),
        of(
            "template, random values",
            "{{#each (range 0 9999)}}{{randomValue length=1000000}}{{/each}}",
            String::new(),
        ),
        of(
            "template, parseJson of keys",
            "{{#parseJson 'x'}}{{request.body}}{{/parseJson}}{{x.z}}",
            keys.clone(),
        ),
        of(
            "template, jsonPath $..*",
            "{{jsonPath request.body '$..*'}}",
            keys.clone(),
        ),
        of(
            "template, toJson and formatJson",
            "{{formatJson request.body}}",
            keys,
        ),
        of(
            "template, formatJson, deep",
            "{{formatJson request.body}}",
            format!(
                "[{}0]",
                format!(
                    "{}{},",
                    "{\"a\":".repeat(100),
                    "0".to_owned() + &"}".repeat(100)
                )
                .repeat(size / 602)
            ),
        ),
        of(
            "template, wordWrap",
            "{{wordWrap request.body 5000}}",
            "x".repeat(size),
        ),
        of(
            "template, regexExtract",
            "{{regexExtract request.body '(x+x+)+y'}}",
            "x".repeat(size),
        ),
        of(
            "template, matches",
            "{{matches request.body '(x*)*y(?!z)'}}",
            "x".repeat(size),
        ),
        of(
            "template, stripTags",
            "{{stripTags request.body}}",
            "<".repeat(size),
        ),
        of(
            "template, arrayAdd",
            "{{#each (range 0 9999)}}{{assign 'x' 'y'}}{{size (arrayAdd (range 0 9999) 1)}}{{/each}}",
            String::new(),
        ),
        of(
            "template, numberFormat and math",
            "{{numberFormat request.body '#,##0.00'}}{{math request.body '*' request.body}}",
            "9".repeat(size),
        ),
        of(
            "template, formData",
            "{{formData request.body 'x'}}{{x.a1}}",
            repeated(size, |n| format!("a{n}=&")),
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table of inputs")]
fn journals(size: usize) -> Vec<Input> {
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
