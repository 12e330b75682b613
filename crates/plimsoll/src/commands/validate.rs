//! `plimsoll validate`: judges a file or directory of input and executes nothing.

use crate::commands::preflight::{self, Unreachable};
use crate::commands::{mock, run};
use crate::exit::{Ending, Failure};
use crate::out;
use plimsoll_base::document::Document;
use plimsoll_gateway::GatewayConfig;
use std::path::{Path, PathBuf};

/// Judge input without executing it: an experiment (file, or directory with `experiment.yaml`), a gateway's configuration, or a
/// directory of stub mappings (with `mappings/` in it).
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
        return experiment(path);
    }
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|e| Failure::Input(format!("{name}: {e}")))?;
    let document = Document::parse_yaml(&name, &text)
        .map_err(|problems| Failure::Input(problems.to_string()))?;
    // An experiment has neither of these at its top level.
    let is_gateway = ["routes", "listeners"]
        .iter()
        .any(|key| document.contains(*key));
    if is_gateway {
        gateway(&name, &text)
    } else {
        experiment(path)
    }
}

fn experiment(path: &Path) -> Result<Ending, Failure> {
    let loaded = run::load(path, &[])?;
    // What it says of this host is a warning; what it refuses does not depend on the host.
    preflight::conclude(&preflight::outlooks(&loaded), Unreachable::Refused)?;
    let (components, arms) = (loaded.components.len(), loaded.arms.len());
    out::print(&format!(
        "{}: a valid experiment: {components} components, {arms} arms\n",
        loaded.file.display()
    ))?;
    Ok(Ending::Passed)
}

fn gateway(name: &str, text: &str) -> Result<Ending, Failure> {
    let config = GatewayConfig::parse(name, text)
        .map_err(|problems| Failure::Input(problems.to_string()))?;
    out::print(&format!(
        "{name}: a valid gateway configuration: {} routes\n",
        config.route_count()
    ))?;
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
