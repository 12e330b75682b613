//! Our gateway as a program of its own, with a configuration that may be written anew while it runs.

use crate::announcement;
use crate::bench::{Bench, Error};
use crate::child::Child;
use plimsoll_testbed::http::Request;
use plimsoll_testbed::messages::Messages;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How long an answer of its admin listener may take.
const ANSWER: Duration = Duration::from_secs(30);

/// A running gateway.
pub struct Gateway {
    /// Its process.
    pub child: Child,
    /// Its listeners: names and addresses.
    pub listening: BTreeMap<String, SocketAddr>,
    messages: Messages,
    directory: PathBuf,
}

impl Gateway {
    /// Starts it with these files around it, `gateway.yaml` among them, and these flags.
    pub fn start(bench: &Bench, files: &[(&str, String)], flags: &[&str]) -> Result<Self, Error> {
        Self::start_by(bench, ["--config", "gateway.yaml"], files, flags)
    }

    /// Starts it with Tyk's files around it, `tyk.conf` among them, and these flags.
    pub fn start_tyk(
        bench: &Bench,
        files: &[(&str, String)],
        flags: &[&str],
    ) -> Result<Self, Error> {
        Self::start_by(bench, ["--tyk", "tyk.conf"], files, flags)
    }

    fn start_by(
        bench: &Bench,
        by: [&str; 2],
        files: &[(&str, String)],
        flags: &[&str],
    ) -> Result<Self, Error> {
        let directory = bench.directory()?;
        for (name, text) in files {
            write(&directory, name, text)?;
        }
        let messages = Messages::create(directory.join("messages"))?;
        let mut command = Command::new(&bench.plimsoll);
        command
            .args(["gateway", "--announce"])
            .args(by)
            .args(flags)
            .current_dir(&directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(messages.stdio()?);
        let mut child = Child::spawn(&mut command)?;
        let listening = announcement::addresses(&mut child)?;
        Ok(Self {
            child,
            listening,
            messages,
            directory,
        })
    }

    /// Where clients connect.
    pub fn main(&self) -> Result<SocketAddr, Error> {
        self.listener("main")
    }

    /// Ends it cleanly, and gives what it has told on standard error.
    pub fn stop(self) -> Result<String, Error> {
        self.child.terminate()?;
        Ok(self.messages.text())
    }

    /// Where its files are.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Writes a file anew.
    pub fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        write(&self.directory, name, text)
    }

    /// Has it read its files anew, and waits until it serves by them.
    pub fn reload(&self) -> Result<(), Error> {
        let request = Request {
            method: "POST",
            ..Request::get("/reload")
        };
        let answer = request.ask(self.listener("admin")?, ANSWER);
        let answer = answer.map_err(|e| Error::at_server("reloading the gateway", e))?;
        match answer.status {
            200 => Ok(()),
            _ => {
                let told = answer.body.lines().last().unwrap_or_default();
                Err(Error::Measured(format!("a reload was refused: {told}")))
            }
        }
    }

    fn listener(&self, name: &str) -> Result<SocketAddr, Error> {
        let found = self.listening.get(name).copied();
        found.ok_or_else(|| Error::Measured(format!("the gateway has no listener `{name}`")))
    }
}

fn write(directory: &std::path::Path, name: &str, text: &str) -> Result<(), Error> {
    let file = directory.join(name);
    let parent = file.parent().unwrap_or(directory);
    std::fs::create_dir_all(parent)
        .and_then(|()| std::fs::write(&file, text))
        .map_err(Error::when(format!("writing {name}")))
}
