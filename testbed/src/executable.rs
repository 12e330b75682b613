//! The executable that is measured: named, or built from these sources so that no stale one is.

use crate::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the sources.
pub fn sources() -> Result<PathBuf, Error> {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
        .map_err(Error::when("finding the sources"))
}

/// The one that was named, else the release build beside this program.
pub fn plimsoll(named: Option<PathBuf>) -> Result<PathBuf, Error> {
    let path = named.map_or_else(build, Ok)?;
    path.canonicalize()
        .map_err(Error::when(format!("finding {}", path.display())))
}

fn build() -> Result<PathBuf, Error> {
    let here = std::env::current_exe().map_err(Error::when("finding this program"))?;
    let status = Command::new("cargo")
        .args(["build", "--release", "--quiet", "--package", "plimsoll"])
        .current_dir(sources()?)
        .status()
        .map_err(Error::when("starting cargo"))?;
    let beside = here.with_file_name("plimsoll");
    if status.success() && beside.exists() {
        Ok(beside)
    } else {
        Err(Error::Missing(format!(
            "no {}: run with `cargo run --release`, or name the executable with --plimsoll",
            beside.display()
        )))
    }
}
