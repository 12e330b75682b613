//! Programs that bind a free port and announce it as one line of JSON on standard output.

use super::Site;
use crate::program::{Output, Program};
use crate::{Error, announcement};
use std::net::SocketAddr;
use std::process::Command;

/// Starts one and reads where it listens; the site gets to know its listener `admin`, if it has one.
pub(super) fn start(site: &Site<'_>, command: &Command) -> Result<(Program, SocketAddr), Error> {
    let mut program = site.spawn(command, Output::Piped)?;
    let listening = announcement::addresses(program.child()).and_then(|listening| {
        site.admin.set(listening.get("admin").copied());
        let main = listening.get("main").copied();
        main.ok_or_else(|| Error::Measured("it has no listener `main`".to_owned()))
    });
    match listening {
        Ok(address) => Ok((program, address)),
        Err(error) => Err(Error::Measured(format!(
            "{error}: {}",
            program.last_words()
        ))),
    }
}
