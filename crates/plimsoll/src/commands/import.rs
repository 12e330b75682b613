//! `plimsoll import`: what other tools have written down, as an experiment file to start from.
//!
//! One file per foreign format reads it into a [`draft::Draft`]; how a draft is written as YAML is the draft's. What cannot be
//! carried over is named on standard error, one line each.

mod draft;
mod har;
mod openapi;
mod pattern;

use crate::exit::{Ending, Failure};
use crate::out;
use draft::{Draft, Size};
use plimsoll_experiment::{RECORDS, VALUES};
use plimsoll_files::{Limit, read_text};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

/// Notes beyond this are counted.
const MOST_NOTES: usize = 200;

/// Write an experiment file from what another tool has recorded or described: judge it with `plimsoll validate`, then edit it.
///
/// Secrets become `${env:NAME}`. What cannot be carried over is named on standard error.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    format: Format,
}

#[derive(Debug, clap::Subcommand)]
enum Format {
    /// A browser's recording: the requests of one host, in their order.
    Har(har::Args),
    /// An OpenAPI 3.0 or 3.1 description, JSON or YAML: one step per operation.
    Openapi(openapi::Args),
}

/// Reads and writes.
pub fn run(args: Args) -> Result<Ending, Failure> {
    let (output, draft) = match &args.format {
        Format::Har(args) => (&args.output, har::import(args)?),
        Format::Openapi(args) => (&args.output, openapi::import(args)?),
    };
    write(output.as_deref(), &draft)?;
    Ok(Ending::Passed)
}

fn write(output: Option<&Path>, draft: &Draft) -> Result<(), Failure> {
    for note in draft.notes.iter().take(MOST_NOTES) {
        out::note(&format!("note: {note}"));
    }
    if let Some(further @ 1..) = draft.notes.len().checked_sub(MOST_NOTES) {
        out::note(&format!("note: {further} further notes are not shown"));
    }
    let text = draft.to_yaml();
    refuse_beyond(draft.size(), text.len())?;
    match output {
        None => out::document(&text),
        Some(path) => create(path, &text),
    }
}

/// An experiment that nobody could run is not written.
fn refuse_beyond(size: Size, bytes: usize) -> Result<(), Failure> {
    let told = |what: &str, count: usize, most: usize| {
        Err(Failure::Input(format!(
            "the experiment would have {count} {what} in {bytes} bytes, and at most {most} are read: leave out some with --exclude, or import a part"
        )))
    };
    let (records, values) = (RECORDS.of(bytes), VALUES.of(bytes));
    if size.records > records {
        return told("steps and the like", size.records, records);
    }
    if size.values > values {
        return told("values", size.values, values);
    }
    Ok(())
}

/// Never overwrites a file: it may be the recording itself, or an import that was worked on since.
fn create(path: &Path, text: &str) -> Result<(), Failure> {
    let file = std::fs::File::create_new(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        let path = path.display();
        match error.kind() {
            ErrorKind::AlreadyExists => Failure::Input(format!(
                "{path} exists and is not overwritten: remove it, or give another name"
            )),
            _ => Failure::Environment(format!("{path}: {error}")),
        }
    })
}

/// A foreign file's text, without the mark that some programs put before it.
fn read(path: &Path, limit: Limit) -> Result<String, Failure> {
    let text =
        read_text(path, limit).map_err(|e| Failure::Input(format!("{}: {e}", path.display())))?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(unmarked) => unmarked.to_owned(),
        None => text,
    })
}

#[cfg(test)]
mod tests {
    use super::draft::{Body, FormPart, Step};
    use super::*;
    use plimsoll_base::document::{Allowance, Counted, Document};

    fn get(number: usize) -> Step {
        Step {
            method: "GET",
            target: "/".to_owned(),
            name: format!("GET /{number}"),
            ..Step::default()
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_written() {
        let check = |step: fn(usize) -> Step, steps: usize, expected: Option<&str>| {
            let draft = Draft {
                steps: (0..steps).map(step).collect(),
                ..Draft::default()
            };
            let text = draft.to_yaml();
            let read = Document::parse_yaml("f.yaml", &text).and_then(|document| {
                document.bound(Counted::Records, RECORDS)?;
                document.bound(Counted::Values, VALUES)
            });
            let written = refuse_beyond(draft.size(), text.len());
            assert_eq!(read.is_ok(), written.is_ok(), "{steps} steps: {read:?}");
            let told = written.err().map(|refused| refused.to_string());
            match (&told, expected) {
                (None, None) => {}
                (Some(told), Some(expected)) => assert!(told.contains(expected), "{told}"),
                _ => panic!("{steps} steps: {told:?}"),
            }
        };
        check(get, 3_000, None);
        check(get, 20_000, Some(" steps and the like in "));
        let headers = |number: usize| Step {
            headers: (0..500)
                .map(|n| (format!("h{n}"), number.to_string()))
                .collect(),
            ..get(number)
        };
        check(headers, 10, None);
        check(headers, 100, Some(" values in "));
    }

    #[test]
    fn what_is_written_is_counted() {
        let part = |name: &str| FormPart {
            name: name.to_owned(),
            filename: Some("f".to_owned()),
            ..FormPart::default()
        };
        let all = |number: usize| Step {
            headers: vec![
                ("shared".to_owned(), "a".to_owned()),
                ("own".to_owned(), format!("{number}")),
            ],
            body: match number {
                0 => Body::Multipart(vec![part("a"), part("b"), part("a")]),
                1 => Body::Text("b".to_owned()),
                _ => Body::None,
            },
            pause_ms: 1,
            statuses: vec![404; number],
            ..get(number)
        };
        for steps in 1..5 {
            let draft = Draft {
                steps: (0..steps).map(all).collect(),
                ..Draft::default()
            };
            let document = Document::parse_yaml("f.yaml", &draft.to_yaml()).unwrap();
            let count = |counted| {
                let allowed = |any| Allowance {
                    any,
                    bytes_each: usize::MAX,
                };
                (0..).find(|any| document.bound(counted, allowed(*any)).is_ok())
            };
            let size = draft.size();
            assert_eq!(count(Counted::Records), Some(size.records), "{steps} steps");
            assert_eq!(count(Counted::Values), Some(size.values), "{steps} steps");
        }
    }
}
