//! The format of the case files.
//!
//! ```text
//! # Topic
//!
//! case: what is odd about it
//! rfc: 9112 §6.1
//! | POST /ok HTTP/1.1            a line of the message, ended by CR LF
//! | Host: a\                     … or by nothing, if it ends in a backslash
//! |                              an empty line
//! end: cut                       afterwards the sender closes; otherwise requests are followed by the canary request
//! expect: 400 close              what mock and gateway do
//! gateway: 200 open              … where the gateway does something else than the mock
//! ours: why we are right         also `peers:` or `either:`: the verdict where a peer differs
//! ```
//!
//! Escapes in message lines: `\r \n \t \s \0 \\ \xHH`, and `\{text*N}` for N times `text`.

use std::collections::BTreeMap;
use std::path::Path;

/// One topic: a file.
#[derive(Debug)]
pub struct Topic {
    pub title: String,
    pub cases: Vec<Case>,
}

/// One case.
#[derive(Debug, Default)]
pub struct Case {
    pub name: String,
    pub rfc: String,
    pub message: Vec<u8>,
    /// Whether the sender closes after the message.
    pub cut: bool,
    pub expect: String,
    /// Further keys, by name.
    pub more: BTreeMap<String, String>,
}

/// Every topic below `dir`, in the order of the file names.
pub fn load(dir: &Path) -> Vec<Topic> {
    let mut paths: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let topics = paths.iter().map(|path| {
        let text = std::fs::read_to_string(path).unwrap();
        parse(&text).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()))
    });
    topics.collect()
}

fn parse(text: &str) -> Result<Topic, String> {
    let mut topic = Topic {
        title: String::new(),
        cases: Vec::new(),
    };
    for (number, line) in text.lines().enumerate() {
        let fail = |what: &str| format!("line {}: {what}: {line}", number + 1);
        if line.is_empty() {
            continue;
        }
        if let Some(title) = line.strip_prefix("# ") {
            title.clone_into(&mut topic.title);
            continue;
        }
        if let Some(name) = line.strip_prefix("case: ") {
            topic.cases.push(Case {
                name: name.to_owned(),
                ..Case::default()
            });
            continue;
        }
        let case = topic.cases.last_mut().ok_or_else(|| fail("no case yet"))?;
        if let Some(rest) = line.strip_prefix('|') {
            let raw = rest.strip_prefix(' ').unwrap_or(rest);
            let (raw, end) = match raw.strip_suffix('\\') {
                Some(raw) if !raw.ends_with('\\') => (raw, ""),
                _ => (raw, "\r\n"),
            };
            unescape(raw, &mut case.message).map_err(|what| fail(&what))?;
            case.message.extend_from_slice(end.as_bytes());
            continue;
        }
        let (key, value) = line
            .split_once(": ")
            .ok_or_else(|| fail("neither message nor key"))?;
        match key {
            "rfc" => value.clone_into(&mut case.rfc),
            "expect" => value.clone_into(&mut case.expect),
            "end" if value == "cut" => case.cut = true,
            "gateway" | "ours" | "peers" | "either" | "method" | "body" | "codec" => {
                case.more.insert(key.to_owned(), value.to_owned());
            }
            _ => return Err(fail("unknown key")),
        }
    }
    Ok(topic)
}

fn unescape(raw: &str, out: &mut Vec<u8>) -> Result<(), String> {
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        let escape = rest[at + 1..].chars().next().ok_or("a lone backslash")?;
        rest = &rest[at + 2..];
        match escape {
            'r' => out.push(b'\r'),
            'n' => out.push(b'\n'),
            't' => out.push(b'\t'),
            's' => out.push(b' '),
            '0' => out.push(0),
            '\\' => out.push(b'\\'),
            'x' => {
                let digits = rest.get(..2).ok_or("two digits after \\x")?;
                out.push(u8::from_str_radix(digits, 16).map_err(|error| error.to_string())?);
                rest = &rest[2..];
            }
            '{' => {
                let (repeated, after) = rest.split_once('}').ok_or("no closing brace")?;
                let (text, times) = repeated.rsplit_once('*').ok_or("no number of times")?;
                let mut once = Vec::new();
                unescape(text, &mut once)?;
                out.extend(once.repeat(times.parse().map_err(|_| "not a number of times")?));
                rest = after;
            }
            other => return Err(format!("unknown escape \\{other}")),
        }
    }
    out.extend_from_slice(rest.as_bytes());
    Ok(())
}
