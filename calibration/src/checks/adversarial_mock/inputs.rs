//! The inputs: what is asked, which stubs it meets, and which requests the journal has before.

mod bomb;
mod journals;
mod json_bodies;
mod parameters;
mod templates;
mod texts;
mod xml;

use serde_json::{Value, json};

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
        xml::xml(size),
        json_bodies::json_bodies(size),
        texts::texts(size),
        parameters::parameters(size),
        templates::templates(size),
        journals::journals(size),
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
