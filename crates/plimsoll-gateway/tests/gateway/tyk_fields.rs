//! Meaning of each field of docs/tyk.md, held against Tyk's published source (v5.15.0-alpha14): one table of rows for each kind of file.
//!
//! A row of a supported field names what in Tyk says its meaning, and what holds it here: two documents, without the field and with it, and
//! what is to be seen of each; or a test. A row of an ignored field names what in Tyk shows that it changes neither who gets in nor what is
//! sent, and a value that provokes.

mod access_rights;
mod conf;
mod definition;
mod lifetimes;
mod policy;
mod records;
mod session;

use crate::support::{Gateway, Message, Upstream, field};
use crate::tyk::{SECRET, merge};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A supported field: its path, where in Tyk its meaning is, what holds it.
pub struct Row(&'static str, &'static str, Held);

pub enum Held {
    Case(Case),
    /// A test of this crate, by module and name.
    Test(&'static str),
}

/// Two documents that differ in one field alone.
pub struct Case {
    without: &'static str,
    with: &'static str,
    asks: &'static [Ask],
}

/// A request, and what is to be seen of it without the field and with it. `~` stands for the listen path, `KEY` for a key of one's own.
pub struct Ask(&'static str, Look, &'static str, &'static str);

#[derive(Clone, Copy)]
pub enum Look {
    /// The status and the path that the upstream saw, or what is said instead.
    Answer,
    /// Of so many requests.
    Statuses(usize),
    /// A field, as the upstream saw it.
    Sent(&'static str),
    /// A field of the response.
    Got(&'static str),
    Body,
}

/// An ignored field: its path, where in Tyk its effect is, a value (JSON).
pub struct Unread(&'static str, &'static str, &'static str);

/// An ordinary row.
const fn row(
    field: &'static str,
    source: &'static str,
    without: &'static str,
    with: &'static str,
    asks: &'static [Ask],
) -> Row {
    let case = Case {
        without,
        with,
        asks,
    };
    Row(field, source, Held::Case(case))
}

const fn held(field: &'static str, source: &'static str, test: &'static str) -> Row {
    Row(field, source, Held::Test(test))
}

fn json_of(text: &str, upstream: &Upstream) -> Value {
    let text = text.replace("UP", &upstream.address.to_string());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Repeats the request; what has `fails` in its path fails.
fn upstream() -> Upstream {
    Upstream::start(|mut peer, _| {
        while let Some(request) = peer.request() {
            let line = request.head.lines().next().unwrap();
            let status = if line.contains("fails") { 500 } else { 200 };
            let body = request.head.replace('\r', "");
            let length = body.len();
            peer.send(&format!(
                "HTTP/1.1 {status} X\r\nX-Old: 1\r\nContent-Length: {length}\r\n\r\n{body}"
            ));
        }
    })
}

impl Ask {
    /// Answers of an API at this listen path, with this key.
    fn look(&self, gateway: &Gateway, at: &str, key: &str) -> String {
        let once = || send(gateway, &self.0.replace('~', at).replace("KEY", key));
        let named = |value: Option<&str>| value.unwrap_or("-").to_owned();
        match self.1 {
            Look::Statuses(count) => {
                let statuses = (0..count).map(|_| once().status().to_string());
                statuses.collect::<Vec<_>>().join(" ")
            }
            Look::Sent(name) => named(field(&once().body_text(), name)),
            Look::Got(name) => named(once().field(name)),
            Look::Body => once().body_text(),
            Look::Answer => answer(&once()),
        }
    }
}

fn answer(message: &Message) -> String {
    let body = message.body_text();
    let line = body.lines().next().unwrap_or_default();
    match line.strip_suffix(" HTTP/1.1") {
        Some(line) => {
            let path = line.split(' ').nth(1).unwrap();
            format!("{} {path}", message.status())
        }
        None => message.refusal().trim_end().to_owned(),
    }
}

/// Sends a request of lines: the first, fields, and after an empty line a body.
fn send(gateway: &Gateway, text: &str) -> Message {
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    let (line, fields) = head.split_once('\n').unwrap_or((head, ""));
    let mut lines = vec![format!("{line} HTTP/1.1"), "Host: a".to_owned()];
    if line.contains(" /tyk/") {
        lines.push(format!("x-tyk-authorization: {SECRET}"));
    }
    lines.extend(fields.lines().map(str::to_owned));
    if !body.is_empty() {
        lines.push(format!("Content-Length: {}", body.len()));
    }
    let head = lines.join("\r\n");
    gateway.connect().ask(&format!("{head}\r\n\r\n{body}"))
}

/// Puts a value at the end of a way into a document: `*` is the first entry of a list, or the one name that there is.
fn put(document: &mut Value, way: &[&str], value: Value) {
    let Some((name, rest)) = way.split_first() else {
        return merge(document, value);
    };
    let below = match (*name, &mut *document) {
        ("*", Value::Object(entries)) if !entries.is_empty() => {
            entries.values_mut().next().unwrap()
        }
        ("*", Value::Array(items)) if !items.is_empty() => &mut items[0],
        ("*", document) => {
            *document = json!([null]);
            &mut document[0]
        }
        (name, document) => {
            if !document.is_object() {
                *document = json!({});
            }
            &mut document[name]
        }
    };
    put(below, rest, value);
}

impl Unread {
    /// A document with this field besides.
    fn in_document(&self, base: &Value) -> Value {
        let mut document = base.clone();
        let way: Vec<&str> = self.0.split('.').collect();
        put(&mut document, &way, serde_json::from_str(self.2).unwrap());
        document
    }

    /// Its path as notes name it, up to the first name that a file chooses.
    fn shown(&self) -> &str {
        self.0.split(".*").next().unwrap()
    }
}

/// Classes by fields, for each section of docs/tyk.md.
fn page() -> BTreeMap<&'static str, BTreeMap<&'static str, &'static str>> {
    let page = include_str!("../../../../docs/tyk.md");
    let mut sections: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for section in page.split("\n## ").skip(1) {
        let (name, text) = section.split_once('\n').unwrap();
        // What became of Tyk's own files is no table of fields.
        if name.starts_with("Tyk's") {
            continue;
        }
        for line in text.lines() {
            let mut cells = line.split('|').map(str::trim).skip(1);
            let field = cells.next().and_then(|cell| cell.strip_prefix('`'));
            if let Some(field) = field {
                let field = field.strip_suffix('`').unwrap();
                sections
                    .entry(name)
                    .or_default()
                    .insert(field, cells.next().unwrap());
            }
        }
    }
    sections
}

#[test]
fn each_field_of_the_page_has_its_row() {
    let page = page();
    let of_each_api = access_rights::UNREAD;
    for (section, rows, unread) in [
        ("tyk.conf", conf::ROWS, &[conf::UNREAD][..]),
        ("API definition", definition::ROWS, &[definition::UNREAD]),
        ("Policy", policy::ROWS, &[policy::UNREAD, of_each_api]),
        ("Session", session::ROWS, &[session::UNREAD, of_each_api]),
    ] {
        let fields = &page[section];
        let of = |class: &str| -> Vec<&str> {
            let own = fields.iter().filter(|(_, own)| **own == class);
            own.map(|(field, _)| *field).collect()
        };
        let sorted = |mut names: Vec<&'static str>| {
            names.sort_unstable();
            names
        };
        let supported = sorted(rows.iter().map(|row| row.0).collect());
        assert_eq!(difference(&of("supported"), &supported), "", "{section}");
        let ignored = sorted(unread.iter().copied().flatten().map(|row| row.0).collect());
        assert_eq!(difference(&of("ignored"), &ignored), "", "{section}");
    }
    assert_eq!(page.len(), 4);
}

/// Fields on the page without a row, rows without a field, and fields with two rows.
fn difference(page: &[&str], rows: &[&str]) -> String {
    let absent = page.iter().filter(|field| !rows.contains(field));
    let beyond = rows.iter().filter(|field| !page.contains(field));
    let twice = rows.windows(2).filter(|pair| pair[0] == pair[1]);
    let absent = absent.map(|field| format!("no row: {field}\n"));
    let beyond = beyond.map(|field| format!("not on the page: {field}\n"));
    let twice = twice.map(|pair| format!("twice: {}\n", pair[0]));
    absent.chain(beyond).chain(twice).collect()
}

#[test]
fn tests_that_rows_name_are_there() {
    let sources = [
        ("tyk", include_str!("tyk.rs")),
        ("tyk_meaning", include_str!("tyk_meaning.rs")),
        ("tyk_batch", include_str!("tyk_batch.rs")),
        ("tyk_overrides", include_str!("tyk_overrides.rs")),
        ("tyk_secured", include_str!("tyk_secured.rs")),
        ("tyk_tokens", include_str!("tyk_tokens.rs")),
        ("redis", include_str!("redis.rs")),
        ("sinks", include_str!("sinks.rs")),
        ("tyk_fields::conf", include_str!("tyk_fields/conf.rs")),
        (
            "tyk_fields::definition",
            include_str!("tyk_fields/definition.rs"),
        ),
        (
            "tyk_fields::lifetimes",
            include_str!("tyk_fields/lifetimes.rs"),
        ),
        ("tyk_fields::policy", include_str!("tyk_fields/policy.rs")),
        ("tyk_fields::records", include_str!("tyk_fields/records.rs")),
        ("tyk_fields::session", include_str!("tyk_fields/session.rs")),
    ];
    let rows = [conf::ROWS, definition::ROWS, policy::ROWS, session::ROWS];
    for Row(path, source, held) in rows.into_iter().flatten() {
        assert!(source.contains(".go: "), "{path}: {source}");
        let Held::Test(named) = held else { continue };
        let (module, name) = named.rsplit_once("::").unwrap();
        let text = sources.iter().find(|(own, _)| *own == module);
        let text = text.unwrap_or_else(|| panic!("{path}: {module}")).1;
        let function = format!("\nfn {name}() {{");
        let at = text.find(&function);
        let before = &text[..at.unwrap_or_else(|| panic!("{path}: there is no {named}"))];
        let attributes = before.rsplit("\n\n").next().unwrap();
        assert!(attributes.contains("#[test]"), "{path}: {named}");
    }
    let unread = [
        conf::UNREAD,
        definition::UNREAD,
        policy::UNREAD,
        session::UNREAD,
        access_rights::UNREAD,
    ];
    for Unread(path, source, value) in unread.into_iter().flatten() {
        assert!(source.contains(".go"), "{path}: {source}");
        let value: Value = serde_json::from_str(value).unwrap();
        assert!(!value.is_null(), "{path}");
    }
}
