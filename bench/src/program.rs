//! A program that the benchmark started: placed on one processor, with what it said, and asked to end when the benchmark dies.

use crate::bench::Bench;
use crate::placement::{self, Cpus};
use crate::{Child, Error, Messages};
use rustix::process::Pid;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

/// A running program; ended with everything below it when dropped.
pub struct Program {
    child: Child,
    messages: Messages,
}

/// The destination of standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Read by who started it.
    Piped,
    /// Written to the file of messages, with standard error.
    Messages,
}

impl Program {
    /// Starts a program on these processors. What it says is kept in `directory`.
    pub fn spawn(
        command: &Command,
        cpus: Cpus,
        directory: &Path,
        output: Output,
    ) -> Result<Self, Error> {
        let name = command.get_program().to_string_lossy();
        let messages = Messages::create(directory.join("messages"))?;
        let mut dying = Command::new("setpriv");
        dying
            .args(["--pdeathsig", "TERM", "--"])
            .arg(command.get_program())
            .args(command.get_args())
            .stdin(Stdio::null())
            .stderr(messages.stdio()?);
        match output {
            Output::Piped => dying.stdout(Stdio::piped()),
            Output::Messages => dying.stdout(messages.stdio()?),
        };
        let child = placement::on(cpus, || Child::spawn(&mut dying))?.named(&name);
        Ok(Self { child, messages })
    }

    /// Starts a client on the clients' processor.
    pub fn client(bench: &Bench, command: &Command, directory: &Path) -> Result<Self, Error> {
        Self::spawn(
            command,
            bench.placement.clients.into(),
            directory,
            Output::Messages,
        )
    }

    /// Its process.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Its process id.
    pub fn pid(&self) -> Pid {
        self.child.pid()
    }

    /// The messages that it wrote so far.
    pub fn messages(&self) -> String {
        self.messages.text()
    }

    /// The last lines that it wrote.
    pub fn last_words(&self) -> String {
        self.messages.last_words()
    }

    /// The error that it ended, with its last words, if it has.
    pub fn check_alive(&mut self) -> Result<(), Error> {
        match self.child.status()? {
            None => Ok(()),
            Some(status) => Err(Error::Measured(format!(
                "{} ended ({status}): {}",
                self.child.name(),
                self.last_words()
            ))),
        }
    }

    /// Waits for its end, which must come within `limit`.
    pub fn wait(&mut self, limit: Duration) -> Result<ExitStatus, Error> {
        self.child.wait(limit)
    }
}
