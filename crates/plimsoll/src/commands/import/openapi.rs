//! OpenAPI 3.0 and 3.1: what a service says about itself, as one step per operation.
//!
//! Values come from examples and defaults; where there is none, one is made up from the schema and said so.

mod description;
mod example;
mod operation;
mod parameters;
mod security;
mod style;
mod tight;

use super::draft::{Draft, METHODS, slug};
use super::{draft, pattern};
use crate::exit::Failure;
use description::Description;
use operation::Operation;
use plimsoll_base::document::{Allowance, Counted, Document, Problems, values_in};
use plimsoll_files::Limit;
use plimsoll_http::Url;
use serde_json::Value;
use std::path::PathBuf;
use tight::Tight;

/// File to take over.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The description.
    file: PathBuf,
    /// Where the service is, such as `http://localhost:8080/api` [default: the first of `servers`]
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Only operations described by this pattern, such as `GET *` or `* /pets*`; repeatable.
    #[arg(long, value_name = "PATTERN")]
    only: Vec<String>,
    /// Leave out operations described by this pattern; repeatable.
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,
    /// The file to write [default: standard output]
    #[arg(short, long)]
    pub output: Option<PathBuf>,
}

/// A mapping takes some hundred bytes.
const VALUES: Allowance = Allowance {
    any: 16_000,
    bytes_each: 20,
};

/// Reads the description.
pub fn import(args: &Args) -> Result<Draft, Failure> {
    let name = args.file.display().to_string();
    let text = super::read(&args.file, Limit::DOCUMENT)?;
    let value = parse(&name, &text).map_err(|problems| Failure::Input(problems.to_string()))?;
    let bytes = text.len();
    drop(text);
    draft(&name, value, bytes, args).map_err(|why| Failure::Input(format!("{name}: {why}")))
}

/// JSON as such, since not everything that is JSON is YAML to every reader: escapes of surrogate pairs, for instance. What is neither is told
/// as YAML, with its place.
fn parse(name: &str, text: &str) -> Result<Value, Problems> {
    if values_in(text.as_bytes()) <= VALUES.of(text.len())
        && let Ok(Tight(value)) = serde_json::from_str(text)
    {
        return Ok(value);
    }
    let document = Document::parse_yaml(name, text)?;
    document.bound(Counted::Values, VALUES)?;
    document.decode()
}

fn draft(name: &str, value: Value, bytes: usize, args: &Args) -> Result<Draft, String> {
    let description = Description::of(value, bytes)?;
    let mut notes = Vec::new();
    let server = Url::parse(&match &args.server {
        Some(server) => server.clone(),
        None => description.server(&mut notes)?,
    })?;
    let mut steps = Vec::new();
    let mut left_out = 0;
    for operation in operations(&description) {
        let title = operation.title();
        let is_wanted = args.only.is_empty()
            || args
                .only
                .iter()
                .any(|wanted| pattern::matches(wanted, &title));
        if !is_wanted
            || args
                .exclude
                .iter()
                .any(|excluded| pattern::matches(excluded, &title))
        {
            left_out += 1;
            continue;
        }
        if !METHODS.contains(&operation.method) {
            notes.push(format!(
                "{title} is left out: its method is not available in this version"
            ));
            continue;
        }
        match operation.step(&description, &server, &mut notes) {
            Ok(step) => steps.push(step),
            Err(why) if description.is_exhausted() => return Err(format!("{title}: {why}")),
            Err(why) => notes.push(format!("{title} is left out: {why}")),
        }
    }
    if left_out > 0 {
        notes.push(format!(
            "operations left out by --only and --exclude: {left_out}"
        ));
    }
    if steps.is_empty() {
        notes.insert(0, "has no operation that can be carried over".to_owned());
        return Err(notes.join("\n  "));
    }
    let title = slug(description.title(), '-');
    Ok(Draft {
        name: if title.is_empty() {
            "service".to_owned()
        } else {
            title
        },
        source: name.to_owned(),
        origin: server.origin(),
        steps,
        notes,
    })
}

/// Every operation, in the order of the file.
fn operations(description: &Description) -> impl Iterator<Item = Operation<'_>> {
    description.paths().flat_map(|(path, item)| {
        let entries = item.as_object().into_iter().flatten();
        entries.filter_map(move |(key, operation)| {
            let (_, method) = KEYS.iter().find(|(known, _)| known == key)?;
            Some(Operation {
                method,
                path,
                item,
                value: operation,
            })
        })
    })
}

/// The keys of operations, and their methods.
const KEYS: [(&str, &str); 8] = [
    ("get", "GET"),
    ("put", "PUT"),
    ("post", "POST"),
    ("delete", "DELETE"),
    ("options", "OPTIONS"),
    ("head", "HEAD"),
    ("patch", "PATCH"),
    ("trace", "TRACE"),
];

/// A text that is part of an address.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    draft::literal(&encoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_has_as_many_values_as_its_length_allows() {
        let operation = r#""/pets/N":{"get":{"operationId":"getPetN","summary":"Returns one of the pets by its number","responses":{"200":{"description":"The pet is there"}}}},"#;
        let paths: String = (0..36_000)
            .map(|n| operation.replace('N', &n.to_string()))
            .collect();
        let text = format!(r#"{{"openapi":"3.0.0","paths":{{{paths}"/":{{}}}}}}"#);
        assert!(text.len() > 5_000_000 && parse("f.json", &text).is_ok());
        let check = |text: &str, expected: &str| {
            let refused = parse("f.yaml", text).unwrap_err().to_string();
            assert_eq!(refused, expected);
        };
        let refused = "leave out what is not needed, or write several files";
        check(
            &format!("[{}0]", "[0],\n".repeat(20_000)),
            &format!("f.yaml:10500:2: more than 21000 values in 100003 bytes: {refused}"),
        );
        check(
            &"- []\n".repeat(22_000),
            &format!("f.yaml:21500:3: more than 21500 values in 110000 bytes: {refused}"),
        );
    }
}
