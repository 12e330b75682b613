//! `plimsoll init`: an example as a beginning of one's own.

use crate::examples::{self, Example};
use crate::exit::{Ending, Failure};
use crate::out;
use std::io::ErrorKind;
use std::path::PathBuf;

/// List the examples with their questions, or write one into a directory.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which example; without it they are listed.
    name: Option<String>,
    /// The directory that is made [default: the example's name]
    #[arg(requires = "name")]
    directory: Option<PathBuf>,
}

/// Lists them, or writes one.
pub fn run(args: Args) -> Result<Ending, Failure> {
    match args.name {
        None => out::print(&list())?,
        Some(name) => write(&name, args.directory)?,
    }
    Ok(Ending::Passed)
}

fn list() -> String {
    let width = examples::all().map(|example| example.name.len()).max();
    let width = width.unwrap_or_default();
    let mut text = String::new();
    for Example {
        name,
        question,
        needs,
    } in examples::all()
    {
        text.push_str(&format!(
            "{name:width$}  {question}\n{:width$}  {needs}\n",
            ""
        ));
    }
    text + "\nplimsoll init NAME [DIR] writes one.\n"
}

fn write(name: &str, directory: Option<PathBuf>) -> Result<(), Failure> {
    let example = Example::named(name).ok_or_else(|| {
        Failure::Input(format!(
            "there is no example `{name}`: `plimsoll init` lists them"
        ))
    })?;
    let directory = directory.unwrap_or_else(|| PathBuf::from(name));
    let shown = directory.display();
    example.write(&directory).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::Input(format!(
            "`{shown}` exists, and nothing is overwritten: name another directory, `plimsoll init {name} DIR`"
        )),
        _ => Failure::Environment(format!("writing `{shown}`: {error}")),
    })?;
    let next = match name {
        "diagnose" => format!("plimsoll diagnose {shown}/gateway.yaml"),
        "shard-routing" => format!("{shown}/run"),
        _ => format!("plimsoll run {shown}"),
    };
    out::print(&format!("written to {shown}; run it with:\n\n    {next}\n"))
}
