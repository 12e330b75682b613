//! `plimsoll shim` and `plimsoll hold` (both hidden): the one stands between the lab and one child, the other is such a child and holds the
//! namespaces of a host.

use std::io;
use std::process::ExitCode;

/// Runs the child that standard input asks for and ends with its exit code.
#[must_use]
pub fn run() -> ExitCode {
    ExitCode::from(plimsoll_lab::shim::run_shim(io::stdin(), io::stderr()))
}

/// Makes the namespaces that standard input asks for, and holds them until it closes.
#[must_use]
pub fn hold() -> ExitCode {
    let orders = io::stdin().lock();
    ExitCode::from(plimsoll_lab::network::run_hold(orders, io::stdout()))
}
