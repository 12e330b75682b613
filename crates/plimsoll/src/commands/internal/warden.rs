//! `plimsoll warden` (hidden): undoes what faults have done, should the lab die first.

use crate::exit::{Ending, Failure};
use std::io;

/// Waits for the lab's end, and undoes what is open then.
pub fn run() -> Result<Ending, Failure> {
    match plimsoll_lab::warden::run_warden(io::stdin()) {
        Ok(()) => Ok(Ending::Passed),
        Err(failed) => Err(Failure::Environment(failed.join("; "))),
    }
}
