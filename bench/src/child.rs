//! A program that the benchmark started: placed on one processor, ended by its own id, never by name, and never left behind.

use crate::clock;
use crate::placement;
use crate::process;
use crate::trouble::Trouble;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child as Process, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

/// How often an ending is looked for.
const LOOK: Duration = Duration::from_millis(10);
/// How long a program may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(5);
/// Lines of a program's messages that an error quotes.
const QUOTED: usize = 4;

/// A child process; ended with everything below it when dropped.
pub struct Child {
    process: Process,
    name: String,
    messages: PathBuf,
}

/// What becomes of standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Read through [`Child::take_stdout`].
    Piped,
    /// Written to the file of messages, with standard error.
    Messages,
}

impl Child {
    /// Starts a program on one processor. What it says is kept in `directory`. It is asked to end when the benchmark dies.
    pub fn spawn(
        command: &Command,
        cpu: usize,
        directory: &Path,
        output: Output,
    ) -> Result<Self, Trouble> {
        let name = command.get_program().to_string_lossy().into_owned();
        let messages = directory.join("messages");
        let file = File::create(&messages).map_err(Trouble::io("creating a log"))?;
        let both = file.try_clone().map_err(Trouble::io("creating a log"))?;
        let mut dying = Command::new("setpriv");
        dying
            .args(["--pdeathsig", "TERM", "--"])
            .arg(command.get_program())
            .args(command.get_args())
            .stdin(Stdio::null())
            .stderr(file);
        match output {
            Output::Piped => dying.stdout(Stdio::piped()),
            Output::Messages => dying.stdout(both),
        };
        let process = placement::on(cpu, || {
            dying
                .spawn()
                .map_err(Trouble::io(format!("starting {name}")))
        })?;
        Ok(Self {
            process,
            name,
            messages,
        })
    }

    /// Its id.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    /// Its standard output, once, if it was piped.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.process.stdout.take()
    }

    /// What it wrote so far.
    pub fn messages(&self) -> String {
        std::fs::read_to_string(&self.messages).unwrap_or_default()
    }

    /// The error that it ended, with its last words, if it has.
    pub fn check_alive(&mut self) -> Result<(), Trouble> {
        match self.ended()? {
            None => Ok(()),
            Some(status) => Err(Trouble::Behaved(format!(
                "{} ended ({status}): {}",
                self.name,
                self.last_words()
            ))),
        }
    }

    /// Waits until it ends by itself.
    pub fn wait(&mut self, limit: Duration) -> Result<ExitStatus, Trouble> {
        let deadline = clock::now() + limit;
        loop {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            if clock::now() > deadline {
                let seconds = limit.as_secs();
                return Err(Trouble::Behaved(format!(
                    "{} had not ended after {seconds} s",
                    self.name
                )));
            }
            clock::pause(LOOK);
        }
    }

    /// The last lines that it wrote.
    pub fn last_words(&self) -> String {
        let text = self.messages();
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(QUOTED)..].join(" / ")
    }

    fn ended(&mut self) -> Result<Option<ExitStatus>, Trouble> {
        self.process
            .try_wait()
            .map_err(Trouble::io("waiting for a child"))
    }

    /// Asks it to end; kills it and what is below it when it does not.
    fn end(&mut self) -> Result<(), Trouble> {
        if self.ended()?.is_some() {
            return Ok(());
        }
        let all = process::tree(self.pid());
        if send(self.pid(), Signal::TERM).is_ok() && self.wait(GRACE).is_ok() {
            return Ok(());
        }
        for pid in all.into_iter().rev() {
            if send(pid, Signal::KILL).is_err() {
                // It has ended meanwhile.
            }
        }
        self.wait(GRACE).map(|_| ())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if let Err(trouble) = self.end() {
            crate::say(&format!("bench: {} was left: {trouble}", self.name));
        }
    }
}

fn send(pid: Pid, signal: Signal) -> Result<(), rustix::io::Errno> {
    kill_process(pid, signal)
}
