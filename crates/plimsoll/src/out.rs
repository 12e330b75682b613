//! The two streams: results on standard output, everything else on standard error. What stands in either comes in part from files,
//! programs and servers of others, so nothing leaves here for a person that could steer their terminal.

use crate::exit::Failure;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_base::visible::visible;
use plimsoll_report::render::terminal::wrapped;
use ratatui::crossterm::terminal;
use std::io::{self, IsTerminal as _, Write as _};

/// Prints a result for people. A reader that went away (`| head`) is not an error.
///
/// # Errors
/// [`Failure::Environment`] when standard output cannot be written, such as a full disk behind a redirection.
pub fn print(text: &str) -> Result<(), Failure> {
    write(&visible(text))
}

/// Prints a document for programs (JSON, HTML, YAML, a table of values), byte by byte as it is; a terminal gets it like `print`.
///
/// # Errors
/// As of `print`.
pub fn document(text: &str) -> Result<(), Failure> {
    match io::stdout().is_terminal() {
        true => print(text),
        false => write(text),
    }
}

fn write(text: &str) -> Result<(), Failure> {
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
    let lines: String = visible(text)
        .split('\n')
        .map(|line| wrapped(line, width))
        .collect();
    io::stderr()
        .lock()
        .write_all(lines.as_bytes())
        .ignored("nobody listens");
}
