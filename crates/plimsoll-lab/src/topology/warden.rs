//! The warden: a process beside the lab that undoes what faults have done to the world outside of the run, should the lab die first.
//!
//! It is told of every undo before the fault is injected, and that it is done when it is healed. When its pipe closes, it does what is still open.
//! It is below no shim, for those end what they have as soon as the lab is gone.

use crate::error::LabError;
use crate::undo::{Line, Undo, undo_open};
use plimsoll_base::ignored::Ignored as _;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

/// The subcommand of our own executable that is a warden.
pub const WARDEN_SUBCOMMAND: &str = "warden";

/// The lab's end of a warden.
pub(crate) struct Warden {
    child: Child,
    pipe: ChildStdin,
}

impl Warden {
    /// Starts one.
    ///
    /// # Errors
    /// [`LabError::Environment`].
    pub(crate) fn start(executable: &Path) -> Result<Self, LabError> {
        let failed = |error: io::Error| {
            LabError::Environment(format!("who undoes faults cannot be started: {error}"))
        };
        let mut child = Command::new(executable)
            .arg(WARDEN_SUBCOMMAND)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let pipe = child.stdin.take();
        let pipe = pipe.ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))?;
        Ok(Self { child, pipe })
    }

    /// Tells it of something to undo.
    ///
    /// # Errors
    /// Why it cannot be told, in words.
    pub(crate) fn open(&mut self, number: u64, fault: &str, undo: &Undo) -> Result<(), String> {
        self.tell(&Line::Open {
            number,
            fault: fault.to_owned(),
            undo: undo.clone(),
        })
    }

    /// Tells it that this is done.
    ///
    /// # Errors
    /// As of [`Self::open`].
    pub(crate) fn close(&mut self, number: u64) -> Result<(), String> {
        self.tell(&Line::Close { number })
    }

    fn tell(&mut self, line: &Line) -> Result<(), String> {
        let told = serde_json::to_string(line).map_err(io::Error::from);
        let told = told.and_then(|line| writeln!(self.pipe, "{line}"));
        told.map_err(|error| format!("who undoes faults is gone: {error}"))
    }

    /// Lets it do what is open, and waits for its end.
    pub(crate) fn finish(mut self) {
        drop(self.pipe);
        self.child
            .wait()
            .ignored("it has said itself what it could not do");
    }
}

/// Is a warden until `orders` end; then undoes what is open. Gives sentences on what could not be undone.
///
/// # Errors
/// A sentence for each.
pub fn run_warden(orders: impl Read) -> Result<(), Vec<String>> {
    // A signal from the terminal is the lab's to handle.
    rustix::process::setsid().ignored("it leads its session already");
    let lines = BufReader::new(orders).lines().map_while(Result::ok);
    let lines: Vec<Line> = lines
        .filter_map(|line| serde_json::from_str(&line).ok())
        .collect();
    undo_open(lines).map(drop)
}
