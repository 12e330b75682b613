//! A program that was started: stopped, continued and ended by its own id, never by name, and never left behind.

use crate::Error;
use crate::terminal::say;
use crate::{clock, interrupt, process};
use rustix::process::{Pid, Signal, kill_process};
use std::process::{Child as Process, ChildStdout, Command, ExitStatus};
use std::time::Duration;

/// How often an ending is looked for.
const LOOK: Duration = Duration::from_millis(10);
/// How long a program may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(5);

/// A child process; asked to end when dropped, and killed with everything below it if it does not.
pub struct Child {
    process: Process,
    name: String,
}

impl Child {
    /// Starts a program.
    pub fn spawn(command: &mut Command) -> Result<Self, Error> {
        let name = command.get_program().to_string_lossy().into_owned();
        let process = command
            .spawn()
            .map_err(Error::when(format!("starting {name}")))?;
        Ok(Self { process, name })
    }

    /// Gives it a name for errors in place of its program's.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// Its name in errors.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its process id.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    /// Its standard output, once, if it was piped.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.process.stdout.take()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) -> Result<(), Error> {
        send(self.pid(), signal)
    }

    /// Asks it to end and waits for it.
    pub fn terminate(mut self) -> Result<(), Error> {
        self.signal(Signal::TERM)?;
        self.wait(GRACE).map(|_| ())
    }

    /// Kills it and reaps it.
    pub fn kill(mut self) -> Result<(), Error> {
        let killed = self.process.kill().and_then(|()| self.process.wait());
        killed.map(|_| ()).map_err(Error::when("killing a child"))
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> Result<bool, Error> {
        self.status().map(|status| status.is_some())
    }

    /// How it ended, if it has.
    pub fn status(&mut self) -> Result<Option<ExitStatus>, Error> {
        if interrupt::requested() {
            return Err(Error::Interrupted);
        }
        self.process
            .try_wait()
            .map_err(Error::when("waiting for a child"))
    }

    /// Waits for its end, which must come within `limit`.
    pub fn wait(&mut self, limit: Duration) -> Result<ExitStatus, Error> {
        let deadline = clock::now() + limit;
        loop {
            if let Some(status) = self.status()? {
                return Ok(status);
            }
            if clock::now() > deadline {
                let (name, seconds) = (&self.name, limit.as_secs());
                return Err(Error::Measured(format!(
                    "{name} had not ended after {seconds} s"
                )));
            }
            clock::sleep(LOOK);
        }
    }

    /// Whether it ends within the time that a program may take, asked to stop or not.
    fn ends(&mut self) -> bool {
        let deadline = clock::now() + GRACE;
        while clock::now() < deadline {
            if matches!(self.process.try_wait(), Ok(Some(_))) {
                return true;
            }
            clock::sleep(LOOK);
        }
        false
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if matches!(self.process.try_wait(), Ok(Some(_))) {
            return;
        }
        // Asked first, so that it ends its own children; a stopped one hears it when it goes on.
        let all = process::tree(self.pid());
        let asked = self.signal(Signal::TERM).and(self.signal(Signal::CONT));
        if asked.is_ok() && self.ends() {
            return;
        }
        for pid in all.into_iter().rev() {
            if send(pid, Signal::KILL).is_err() {
                // It has ended meanwhile.
            }
        }
        if !self.ends() {
            say(&format!("{} was left", self.name));
        }
    }
}

/// Sends a signal to a process below one of our own.
pub fn send(pid: Pid, signal: Signal) -> Result<(), Error> {
    kill_process(pid, signal).map_err(|source| Error::at_process("sending a signal", source.into()))
}
