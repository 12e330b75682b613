//! The two streams: results on standard output, everything else on standard error.

use crate::exit::Failure;
use std::io::{self, Write as _};

/// Prints a result. A reader that went away (`| head`) is not an error.
///
/// # Errors
/// [`Failure::Environment`] when standard output cannot be written, such as a full disk behind a redirection.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Environment(
            format!("writing to standard output: {error}"),
        )),
        _ => Ok(()),
    }
}

/// Prints a message for the person at the terminal. There is nowhere to report a failure of standard error to.
pub fn note(text: &str) {
    if writeln!(io::stderr().lock(), "{text}").is_err() {
        // Nobody listens.
    }
}
