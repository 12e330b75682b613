//! The two streams: results on standard output, everything else on standard error.

use crate::exit::Failure;
use plimsoll_report::render::terminal::wrapped;
use ratatui::crossterm::terminal;
use std::io::{self, IsTerminal as _, Write as _};

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

/// How many columns standard output has; without end if it is no terminal.
pub fn width() -> usize {
    columns(io::stdout().is_terminal())
}

fn columns(is_terminal: bool) -> usize {
    let size = is_terminal.then(terminal::size).and_then(Result::ok);
    size.map_or(usize::MAX, |(columns, _)| usize::from(columns))
}

/// Prints a message for the person at the terminal, broken between words. There is nowhere to report a failure of standard error to.
pub fn note(text: &str) {
    let width = columns(io::stderr().is_terminal());
    let lines: String = text.split('\n').map(|line| wrapped(line, width)).collect();
    if io::stderr().lock().write_all(lines.as_bytes()).is_err() {
        // Nobody listens.
    }
}
