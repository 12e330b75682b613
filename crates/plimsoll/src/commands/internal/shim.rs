//! `plimsoll shim` (hidden): stands between the lab and one child.

use std::io;
use std::process::ExitCode;

/// Runs the child that standard input asks for and ends with its exit code.
#[must_use]
pub fn run() -> ExitCode {
    ExitCode::from(plimsoll_lab::shim::run_shim(io::stdin(), io::stderr()))
}
