//! Messages between the lab and a shim: one line of JSON each. Secrets travel here, never in a shim's arguments.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// The child to run. Has no `Debug`: arguments and environment may hold secrets.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The program: a path, or a name that is looked up in `PATH`.
    pub program: PathBuf,
    /// Its arguments, without its own name.
    pub arguments: Vec<String>,
    /// Its whole environment: nothing is inherited.
    pub environment: BTreeMap<String, String>,
    /// Its working directory; the lab's when absent.
    pub dir: Option<PathBuf>,
    /// The CPUs that it may use; any when empty.
    pub cpus: Vec<usize>,
    /// The control groups that are made for it. The shim itself is in none: what stops or ends a whole group leaves it alone.
    pub cgroups: Vec<Cgroup>,
    /// The process whose namespaces it joins before the child starts: those of its host.
    #[serde(default)]
    pub host: Option<u32>,
    /// A directory that is a file system of its own for it alone.
    #[serde(default)]
    pub disk: Option<Disk>,
    /// The directory of the run that is removed with all that is in it when the lab has ended without doing so: by the last of its shims.
    pub scratch: Option<PathBuf>,
    /// A line written to its standard input, which then stays open until a command closes it.
    pub stdin_line: Option<String>,
    /// Where its standard output goes.
    pub stdout: Stdout,
    /// The file to which its standard error is appended.
    pub stderr: PathBuf,
    /// Texts that are masked in its logs; with none, it writes into them itself.
    pub secrets: Vec<String>,
}

impl Spec {
    /// A program with these arguments, what goes wrong written to a file, and nothing else: no environment, limits or host.
    #[must_use]
    pub fn of(program: PathBuf, arguments: Vec<String>, stderr: PathBuf) -> Self {
        Self {
            program,
            arguments,
            environment: BTreeMap::new(),
            dir: None,
            cpus: Vec::new(),
            cgroups: Vec::new(),
            host: None,
            disk: None,
            scratch: None,
            stdin_line: None,
            stdout: Stdout::Inherit,
            stderr,
            secrets: Vec::new(),
        }
    }
}

/// Where a child's standard output goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stdout {
    /// To the lab: it is the shim's own.
    Inherit,
    /// Appended to this file.
    Log(PathBuf),
}

/// A control group that exists as long as its shim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cgroup {
    /// Its directory; an empty one that a killed run left is taken over.
    pub dir: PathBuf,
    /// Files below `dir` and what is written to each, in this order.
    pub settings: Vec<(String, String)>,
    /// The group into which the shim moves once the child runs.
    pub leave_to: PathBuf,
    /// A file below `dir`, and where a copy of it is left when the group is removed.
    #[serde(default)]
    pub copy: Option<(String, PathBuf)>,
}

/// A file system in memory that exists as long as the child; only processes below its shim see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    /// The directory; files that are in it before are in it after.
    pub dir: PathBuf,
    /// Its size.
    pub bytes: u64,
}

/// Command of the lab to a running shim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Write this line to the child's standard input.
    Line(String),
    /// Close the child's standard input and leave it running.
    CloseStdin,
    /// Close its standard input, send SIGTERM, and kill everything when it still runs after the grace.
    Stop {
        /// How long it may take, in milliseconds.
        grace_ms: u64,
    },
}

/// The one line that a shim tells the lab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// The child runs.
    Started {
        /// Its process id.
        pid: u32,
    },
    /// There is no child.
    Failed(Failure),
}

/// Why a shim started no child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// No such program.
    #[error("command `{0}` was not found: install it, or give its full path")]
    NotFound(String),
    /// The program exists but does not run.
    #[error("command `{0}` cannot be run: {1}")]
    NotRunnable(String, String),
    /// Its control group is not permitted.
    #[error("{0}")]
    Cgroup(String),
    /// Something else before the program was started.
    #[error("{0}")]
    Setup(String),
}

impl Failure {
    pub(super) fn setup<E: Into<io::Error>>(action: &'static str) -> impl FnOnce(E) -> Self {
        move |error| Self::Setup(format!("the shim could not {action}: {}", error.into()))
    }

    pub(super) fn of_spawn(spec: &Spec, error: &io::Error) -> Self {
        let program = spec.program.display().to_string();
        match &spec.dir {
            Some(dir) if !dir.is_dir() => Self::NotRunnable(
                program,
                format!("its directory {} does not exist", dir.display()),
            ),
            _ if error.kind() == io::ErrorKind::NotFound => Self::NotFound(program),
            _ => Self::NotRunnable(program, error.to_string()),
        }
    }
}
