//! Programs that bind a free port and announce it as one line of JSON on standard output.

use super::Site;
use crate::program::{Output, Program};
use crate::{Trouble, announcement};
use std::net::SocketAddr;
use std::process::Command;

/// Starts one and reads where it listens.
pub(super) fn start(site: &Site<'_>, command: &Command) -> Result<(Program, SocketAddr), Trouble> {
    let mut program = site.spawn(command, Output::Piped)?;
    match announcement::address(program.child()) {
        Ok(address) => Ok((program, address)),
        Err(trouble) => Err(Trouble::Measured(format!(
            "{trouble}: {}",
            program.last_words()
        ))),
    }
}
