//! Lines for the person at the terminal.

use std::io::Write as _;

/// Writes a line to standard error. There is nowhere to report a failure of standard error to.
pub fn say(line: &str) {
    if writeln!(std::io::stderr().lock(), "{line}").is_err() {
        // Nobody listens.
    }
}
