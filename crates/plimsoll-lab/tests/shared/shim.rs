//! A shim of the test's own executable, and the pipes to it.

use plimsoll_lab::shim::{Command, Report, Spec};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio};

pub struct Shim {
    pub process: Child,
    /// Closing it ends what it runs.
    pub commands: ChildStdin,
    reports: BufReader<ChildStderr>,
    pub stdout: Option<BufReader<ChildStdout>>,
}

impl Shim {
    pub fn start(spec: &Spec) -> Self {
        let mut process = std::process::Command::new(executable())
            .arg("shim")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut commands = process.stdin.take().unwrap();
        writeln!(commands, "{}", serde_json::to_string(spec).unwrap()).unwrap();
        Self {
            commands,
            reports: BufReader::new(process.stderr.take().unwrap()),
            stdout: process.stdout.take().map(BufReader::new),
            process,
        }
    }

    pub fn report(&mut self) -> Report {
        let mut line = String::new();
        self.reports.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    pub fn command(&mut self, command: &Command) {
        let line = serde_json::to_string(command).unwrap();
        writeln!(self.commands, "{line}").unwrap();
    }

    pub fn line(&mut self) -> String {
        let mut line = String::new();
        let stdout = self.stdout.as_mut().unwrap();
        stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

pub fn executable() -> PathBuf {
    std::env::current_exe().unwrap()
}

/// A script of a shell; what goes wrong is not kept.
pub fn sh(script: &str) -> Spec {
    let path = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin".to_owned();
    Spec {
        environment: [("PATH".to_owned(), path)].into(),
        ..Spec::of(
            "/bin/sh".into(),
            vec!["-c".to_owned(), script.to_owned()],
            "/dev/null".into(),
        )
    }
}
