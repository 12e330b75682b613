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
use draft::Draft;
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
    match output {
        None => out::document(&text),
        Some(path) => create(path, &text),
    }
}

/// What exists is not overwritten: it may be the recording itself, or an import that was worked on since.
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
