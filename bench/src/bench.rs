//! The bench on which everything is compared: the executable, how long and how often, where programs run, scratch directories.

use crate::placement::Placement;
use crate::trouble::Trouble;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// Rounds, unless told otherwise: the fewest from which an interval is worth printing.
const ROUNDS: usize = 5;

/// What every comparison needs.
pub struct Bench {
    /// The executable that is compared.
    pub plimsoll: PathBuf,
    /// The root of the sources.
    pub root: PathBuf,
    /// Where programs run.
    pub placement: Placement,
    /// How often each side is measured.
    pub rounds: usize,
    /// Whether figures mean anything.
    pub short: bool,
}

impl Bench {
    /// Finds or builds the executable.
    pub fn new(
        plimsoll: Option<PathBuf>,
        rounds: Option<usize>,
        short: bool,
    ) -> Result<Self, Trouble> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .canonicalize()
            .map_err(Trouble::io("finding the sources"))?;
        let plimsoll = plimsoll.map_or_else(|| build(&root), Ok)?;
        let plimsoll = plimsoll
            .canonicalize()
            .map_err(Trouble::io(format!("finding {}", plimsoll.display())))?;
        Ok(Self {
            plimsoll,
            root,
            placement: Placement::of_this_host()?,
            rounds: rounds.unwrap_or(if short { 2 } else { ROUNDS }),
            short,
        })
    }

    /// How long something is measured.
    pub fn window(&self) -> Duration {
        Duration::from_secs(if self.short { 1 } else { 8 })
    }

    /// How long something runs before it is measured.
    pub fn lead(&self) -> Duration {
        Duration::from_millis(if self.short { 500 } else { 2_000 })
    }

    /// A fresh directory.
    pub fn directory(&self) -> Result<TempDir, Trouble> {
        tempfile::tempdir().map_err(Trouble::io("a scratch directory"))
    }
}

/// The release build, made from these sources, so that no stale executable is compared.
fn build(root: &Path) -> Result<PathBuf, Trouble> {
    let here = std::env::current_exe().map_err(Trouble::io("finding this program"))?;
    let status = Command::new("cargo")
        .args(["build", "--release", "--quiet", "--package", "plimsoll"])
        .current_dir(root)
        .status()
        .map_err(Trouble::io("starting cargo"))?;
    let beside = here.with_file_name("plimsoll");
    if status.success() && beside.exists() {
        Ok(beside)
    } else {
        Err(Trouble::Asked(format!(
            "no {}: run with `cargo run --release`, or name the executable with --plimsoll",
            beside.display()
        )))
    }
}
