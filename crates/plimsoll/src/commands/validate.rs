//! `plimsoll validate`: judges a file or directory of input and starts nothing of it.

use crate::commands::preflight::{self, Unreachable};
use crate::commands::{gateway, mock, run};
use crate::environment;
use crate::exit::{Ending, Failure};
use crate::out;
use plimsoll_base::document::Document;
use plimsoll_experiment::Experiment;
use plimsoll_files::{Limit, read_text};
use plimsoll_gateway::TykFile;
use std::path::{Path, PathBuf};

/// Check input without running it: an experiment (file, or directory with `experiment.yaml`), a gateway's configuration, Tyk's
/// `tyk.conf`, one of its API definitions or its policies, or a directory of stub mappings (with `mappings/` in it).
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file or directory.
    path: PathBuf,
}

/// Says what is wrong with it, or that nothing is.
pub fn run(args: Args) -> Result<Ending, Failure> {
    let path = &args.path;
    if path.join("mappings").is_dir() {
        return stubs(path);
    }
    if path.is_dir() {
        return experiment(&run::load(path, &[])?);
    }
    let name = path.display().to_string();
    let text =
        read_text(path, Limit::DOCUMENT).map_err(|e| Failure::Input(format!("{name}: {e}")))?;
    let document = Document::parse_yaml(&name, &text)
        .map_err(|problems| Failure::Input(problems.to_string()))?;
    let sort = TykFile::of(&document);
    // An experiment has neither of these at its top level.
    let is_gateway = document.contains("routes") || document.contains("listeners");
    if let Some(sort) = sort {
        return match sort {
            TykFile::Conf => {
                // It is read anew, with what it names.
                drop(document);
                tyk(path)
            }
            TykFile::Definition => definition(&name, json(document, &name, &text)?),
            TykFile::Policies | TykFile::Policy => {
                policies(&name, json(document, &name, &text)?, sort)
            }
            TykFile::OpenApi => Err(Failure::Input(format!(
                "{name}: an OpenAPI description with Tyk's extension: only classic API definitions are read"
            ))),
        };
    }
    if is_gateway {
        return gateway(path, &document);
    }
    let loaded = Experiment::of(document, &text, path, &environment::surroundings());
    experiment(&loaded.map_err(|problems| Failure::Input(problems.to_string()))?)
}

/// This document as JSON and nothing else; it is parsed again only if it is none.
fn json(document: Document, name: &str, text: &str) -> Result<Document, Failure> {
    if document.is_json() {
        return Ok(document);
    }
    drop(document);
    Document::parse_json(name, text).map_err(|problems| Failure::Input(problems.to_string()))
}

fn experiment(loaded: &Experiment) -> Result<Ending, Failure> {
    preflight::conclude(&preflight::outlooks(loaded), Unreachable::Refused)?;
    let (components, arms) = (loaded.components.len(), loaded.arms.len());
    out::print(&format!(
        "{}: a valid experiment: {components} components, {arms} arms\n",
        loaded.file.display()
    ))?;
    // The file is valid wherever it is read. That it cannot run here has another exit code than a wrong one.
    plimsoll_lab::check_faults(loaded)?;
    Ok(Ending::Passed)
}

fn gateway(path: &Path, document: &Document) -> Result<Ending, Failure> {
    let config = gateway::read_parsed(path, document)
        .map_err(|problems| Failure::Input(problems.to_string()))?;
    let name = path.display();
    out::print(&format!(
        "{name}: a valid gateway configuration: {} routes\n",
        config.route_count()
    ))?;
    Ok(Ending::Passed)
}

/// `tyk.conf`, with the definitions and policies that it names.
fn tyk(path: &Path) -> Result<Ending, Failure> {
    let (_, config, notes) =
        gateway::open_tyk(path, false).map_err(|problems| Failure::Input(problems.to_string()))?;
    notes.iter().for_each(|note| out::note(note));
    let apis = config.route_count();
    out::print(&format!(
        "{}: valid: {apis} APIs of Tyk's\n",
        path.display()
    ))?;
    Ok(Ending::Passed)
}

/// One API definition of Tyk's.
fn definition(name: &str, document: Document) -> Result<Ending, Failure> {
    let notes = plimsoll_gateway::check_definition(name, document)
        .map_err(|problems| Failure::Input(problems.to_string()))?;
    notes.iter().for_each(|note| out::note(note));
    out::print(&format!("{name}: a valid API definition of Tyk's\n"))?;
    Ok(Ending::Passed)
}

/// Policies of Tyk's.
fn policies(name: &str, document: Document, sort: TykFile) -> Result<Ending, Failure> {
    let notes = plimsoll_gateway::check_policies(name, document, sort)
        .map_err(|problems| Failure::Input(problems.to_string()))?;
    notes.iter().for_each(|note| out::note(note));
    out::print(&format!("{name}: valid policies of Tyk's\n"))?;
    Ok(Ending::Passed)
}

fn stubs(path: &Path) -> Result<Ending, Failure> {
    let report = plimsoll_mock::validate(path).map_err(mock::failure)?;
    if !report.is_clean() {
        return Err(Failure::Input(report.to_string()));
    }
    out::print(&format!("{report}\n"))?;
    Ok(Ending::Passed)
}
