//! A child process under its shim, seen from the lab: started, watched, stopped.
//!
//! Dropping a [`Child`] closes the pipe to its shim, which then kills everything below it at once. What the child is for
//! is left to `component` and `generator`.

mod lines;

pub use lines::BoundedLines;

use crate::error::LabError;
use crate::topology::process_tree::ProcessTree;
use crate::topology::shim::{self, Command, Failure, Report, Spec};
use plimsoll_base::ignored::Ignored as _;
use plimsoll_base::units::format_bytes;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};

/// The subcommand of our own executable that runs a shim.
pub const SHIM_SUBCOMMAND: &str = "shim";
/// How long a child may take to end after SIGTERM.
pub const STOP_GRACE: Duration = Duration::from_secs(10);
/// How much longer its shim may take to kill and reap what is left.
const SHIM_GRACE: Duration = Duration::from_secs(15);
/// The longest report of a shim, in bytes.
const REPORT_BYTES: u64 = 64 * 1024;

/// A running child.
pub struct Child {
    shim: tokio::process::Child,
    shim_pid: u32,
    pid: u32,
    commands: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
}

/// Why there is no child.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The shim says why.
    #[error(transparent)]
    Refused(#[from] Failure),
    /// The child's specification is larger than a shim takes.
    #[error("the plan has {} with the rows of its feeders and the bodies of its requests, and may have {}: write shorter ones", size(*.0), size(shim::SPEC_BYTES))]
    TooLong(usize),
    /// The shim itself could not be run or talked to.
    #[error("the shim of this child does not work: {0}")]
    Shim(std::io::Error),
}

impl Child {
    /// Starts `spec` under a shim of `executable` and waits until the program runs.
    ///
    /// # Errors
    /// [`StartError`] when it does not run; nothing is left of it then.
    pub async fn start(executable: &Path, spec: &Spec) -> Result<Self, StartError> {
        let line = serde_json::to_string(spec).map_err(|e| StartError::Shim(e.into()))?;
        if line.len() >= shim::SPEC_BYTES {
            return Err(StartError::TooLong(line.len()));
        }
        let mut shim = tokio::process::Command::new(executable)
            .arg(SHIM_SUBCOMMAND)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(StartError::Shim)?;
        let missing = || StartError::Shim(std::io::ErrorKind::BrokenPipe.into());
        let shim_pid = shim.id().ok_or_else(missing)?;
        let mut commands = shim.stdin.take().ok_or_else(missing)?;
        let reports = shim.stderr.take().ok_or_else(missing)?;
        let stdout = shim.stdout.take();
        send_line(&mut commands, &line)
            .await
            .map_err(StartError::Shim)?;
        let mut report = String::new();
        let read = BufReader::new(reports.take(REPORT_BYTES))
            .read_line(&mut report)
            .await;
        read.map_err(StartError::Shim)?;
        match serde_json::from_str(&report) {
            Ok(Report::Started { pid }) => Ok(Self {
                shim,
                shim_pid,
                pid,
                commands: Some(commands),
                stdout,
            }),
            Ok(Report::Failed(failure)) => Err(failure.into()),
            Err(_) => Err(StartError::Shim(std::io::Error::other(format!(
                "it said `{}`",
                report.trim_end()
            )))),
        }
    }

    /// The process id of its shim: the root of the tree that belongs to it.
    #[must_use]
    pub fn shim_pid(&self) -> u32 {
        self.shim_pid
    }

    /// The process id of the program itself.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The child's standard output, once, when the spec said to inherit it.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.stdout.take()
    }

    /// Waits for the child's end, however it comes. May be dropped and called again.
    pub async fn ended(&mut self) -> Exit {
        let status = self.shim.wait().await;
        if status
            .as_ref()
            .is_ok_and(|status| status.signal().is_some())
        {
            self.kill_orphans();
        }
        Exit::of(status.ok())
    }

    /// Writes a line to the child's standard input.
    ///
    /// # Errors
    /// The pipe's error: the shim has ended.
    pub async fn say(&mut self, line: String) -> std::io::Result<()> {
        self.command(&Command::Line(line)).await
    }

    /// Closes the child's standard input.
    ///
    /// # Errors
    /// The pipe's error: the shim has ended.
    pub async fn close_stdin(&mut self) -> std::io::Result<()> {
        self.command(&Command::CloseStdin).await
    }

    /// Ends the child: SIGTERM, then after `grace` SIGKILL for everything below its shim. Returns when all is gone.
    pub async fn stop(&mut self, grace: Duration) -> Exit {
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        if self.command(&Command::Stop { grace_ms }).await.is_err() {
            // The shim has ended or is about to: nothing to ask it for.
            self.commands = None;
        }
        match tokio::time::timeout(grace + SHIM_GRACE, self.ended()).await {
            Ok(exit) => exit,
            Err(_) => self.kill().await,
        }
    }

    /// Ends the child at once, by closing the pipe to its shim. Returns when all is gone.
    pub async fn kill(&mut self) -> Exit {
        self.commands = None;
        if let Ok(exit) = tokio::time::timeout(SHIM_GRACE, self.ended()).await {
            return exit;
        }
        // Only the kernel can hold a shim this long; its end is awaited by whoever reaps this process.
        Exit::of(self.shim.kill().await.ok().and(None))
    }

    async fn command(&mut self, command: &Command) -> std::io::Result<()> {
        let line = serde_json::to_string(command)?;
        match &mut self.commands {
            Some(commands) => send_line(commands, &line).await,
            None => Err(std::io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Somebody killed the shim, so nobody is left to kill what ran below it: everything of its session goes.
    fn kill_orphans(&self) {
        for process in ProcessTree::read().of_session(self.shim_pid) {
            if let Some(pid) = shim::pid(process.pid) {
                rustix::process::kill_process(pid, rustix::process::Signal::KILL)
                    .ignored("gone meanwhile is what was wanted");
            }
        }
    }
}

async fn send_line(pipe: &mut ChildStdin, line: &str) -> std::io::Result<()> {
    pipe.write_all(line.as_bytes()).await?;
    pipe.write_all(b"\n").await?;
    pipe.flush().await
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(u8),
    /// By this signal.
    Signal(u8),
    /// It could not be observed.
    Unknown,
}

impl Exit {
    fn of(status: Option<ExitStatus>) -> Self {
        let Some(status) = status else {
            return Self::Unknown;
        };
        match (status.code().map(u8::try_from), status.signal()) {
            (Some(Ok(shim::LOST)), _) => Self::Unknown,
            // The shim's convention for a signal; real-time signals end at 64.
            (Some(Ok(code @ 129..=192)), _) => Self::Signal(code - 128),
            (Some(Ok(code)), _) => Self::Code(code),
            (_, Some(signal)) => u8::try_from(signal).map_or(Self::Unknown, Self::Signal),
            _ => Self::Unknown,
        }
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(code) => write!(f, "it ended with status {code}"),
            Self::Signal(9) => write!(f, "it was killed (signal 9)"),
            Self::Signal(signal) => write!(f, "it was ended by signal {signal}"),
            Self::Unknown => write!(f, "it ended, and its status is not known"),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a size for people")]
fn size(bytes: usize) -> String {
    format_bytes(bytes as f64)
}

impl StartError {
    /// The error of a run in which `who` was to start.
    #[must_use]
    pub fn into_lab_error(self, who: &str) -> LabError {
        match self {
            Self::Refused(failure) => LabError::NotStarted {
                component: who.to_owned(),
                reason: failure.to_string(),
                log: None,
            },
            Self::TooLong(_) => LabError::Input(self.to_string()),
            Self::Shim(_) => LabError::Internal(format!("{who}: {self}")),
        }
    }
}
