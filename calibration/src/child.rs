//! A program that calibration started: stopped, continued and ended by its own id, never by name, and never left behind.

use crate::bench::Trouble;
use crate::clock;
use crate::interrupt;
use rustix::process::{Pid, Signal, kill_process};
use std::process::{Child as Process, ChildStdout, Command, ExitStatus};
use std::time::Duration;

/// How often an ending is looked for.
const LOOK: Duration = Duration::from_millis(10);
/// How long a program may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(5);

/// A child process; asked to end when dropped, and killed if it does not.
pub struct Child(Process);

impl Child {
    /// Starts a program.
    pub fn spawn(command: &mut Command) -> Result<Self, Trouble> {
        let name = command.get_program().to_string_lossy().into_owned();
        command
            .spawn()
            .map(Self)
            .map_err(|source| Trouble::io(format!("starting {name}"), source))
    }

    /// Its id.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    /// Its standard output, once, if it was piped.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.0.stdout.take()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) -> Result<(), Trouble> {
        send(self.pid(), signal)
    }

    /// Asks it to end and waits for it.
    pub fn terminate(mut self) -> Result<(), Trouble> {
        self.signal(Signal::TERM)?;
        self.wait(GRACE).map(|_| ())
    }

    /// Kills it and reaps it.
    pub fn kill(mut self) -> Result<(), Trouble> {
        let killed = self.0.kill().and_then(|()| self.0.wait());
        killed
            .map(|_| ())
            .map_err(|source| Trouble::io("killing a child", source))
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> Result<bool, Trouble> {
        if interrupt::requested() {
            return Err(Trouble::Interrupted);
        }
        let ended = self.0.try_wait();
        ended
            .map(|status| status.is_some())
            .map_err(|source| Trouble::io("waiting for a child", source))
    }

    /// Waits until it ends by itself.
    pub fn wait(&mut self, limit: Duration) -> Result<ExitStatus, Trouble> {
        let deadline = clock::now() + limit;
        loop {
            let ended = self
                .0
                .try_wait()
                .map_err(|source| Trouble::io("waiting for a child", source))?;
            if let Some(status) = ended {
                return Ok(status);
            }
            if interrupt::requested() {
                return Err(Trouble::Interrupted);
            }
            if clock::now() > deadline {
                return Err(Trouble::Measured(format!(
                    "process {} had not ended after {} s",
                    self.0.id(),
                    limit.as_secs()
                )));
            }
            clock::pause(LOOK);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(Some(_))) {
            return;
        }
        // Asked first, so that it ends its own children; a stopped one hears it when it goes on.
        let asked = self.signal(Signal::TERM).and(self.signal(Signal::CONT));
        let deadline = clock::now() + GRACE;
        while asked.is_ok() && clock::now() < deadline {
            if matches!(self.0.try_wait(), Ok(Some(_))) {
                return;
            }
            clock::until(clock::now() + LOOK);
        }
        if self.0.kill().and_then(|()| self.0.wait()).is_err() {
            crate::say(&format!("calibration: process {} was left", self.0.id()));
        }
    }
}

/// Sends a signal to a process below one of our own.
pub fn send(pid: Pid, signal: Signal) -> Result<(), Trouble> {
    kill_process(pid, signal)
        .map_err(|source| Trouble::at_process("sending a signal", source.into()))
}

/// Every process below `root`, from `/proc`, with its arguments.
pub fn descendants(root: Pid) -> Vec<(Pid, Vec<String>)> {
    let parents: Vec<(i32, i32)> = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid: i32| Some((pid, parent(pid)?)))
        .collect();
    let mut below = vec![root.as_raw_nonzero().get()];
    let mut next = 0;
    while let Some(&above) = below.get(next) {
        below.extend(parents.iter().filter(|(_, p)| *p == above).map(|(c, _)| *c));
        next += 1;
    }
    below
        .into_iter()
        .skip(1)
        .filter_map(|pid| Some((Pid::from_raw(pid)?, arguments(pid))))
        .collect()
}

/// The fourth field of `stat`; the second may hold spaces and brackets.
fn parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

fn arguments(pid: i32) -> Vec<String> {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = bytes.split(|byte| *byte == 0).filter(|w| !w.is_empty());
    words
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}
