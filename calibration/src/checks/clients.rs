//! Clients that nobody here wrote drive our mock, unmodified: WireMock's Java client, Python's `wiremock`, npm's `wiremock-captain`.
//!
//! Their steps stand in `calibration/clients/`: a program for each, which prints `ok NAME` or `failed NAME: why` for every step. They come from
//! `bench/peers/install`.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error};
use crate::mock::Mock;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub const CHECK: Check = Check {
    name: "clients",
    about: "WireMock's own clients, in Java, Python and JavaScript, drive the mock",
    run,
};

/// A client and the program that uses it.
struct Client {
    /// Its name in `bench/peers/install`.
    tool: &'static str,
    /// The file that must be there, below `target/peers`, and the command: the program, its arguments before the port.
    needs: &'static str,
    program: fn(&Path) -> Command,
    script: &'static str,
}

static CLIENTS: [Client; 3] = [
    Client {
        tool: "wiremock",
        needs: "wiremock.jar",
        program: |jar| {
            let mut command = Command::new("java");
            command.arg("-cp").arg(jar);
            command
        },
        script: "Drive.java",
    },
    Client {
        tool: "wiremock-python",
        needs: "wiremock-python/bin/python",
        program: |python| Command::new(python),
        script: "drive.py",
    },
    Client {
        tool: "wiremock-captain",
        needs: "wiremock-captain/node_modules",
        program: |modules| {
            let mut command = Command::new("node");
            command.env("CLIENTS", modules);
            command
        },
        script: "drive.cjs",
    },
];

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let mut bars = Vec::new();
    for client in &CLIENTS {
        bench.progress(client.tool);
        let what = format!("{}: {}", client.tool, client.script);
        bars.extend(Bar::part(
            &what,
            bench.witnessed(|| drive(bench, client, &what)),
        ));
    }
    Ok(bars)
}

fn drive(bench: &Bench, client: &Client, what: &str) -> Result<Vec<Bar>, Error> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let needs: PathBuf = repository.join("target/peers").join(client.needs);
    if !needs.exists() {
        let reason = format!("`bench/peers/install {}` brings it", client.tool);
        return Err(Error::Missing(reason));
    }
    let mock = Mock::start_with(bench, &[], &["--max-request-journal-entries=1000"])?;
    let mut command = (client.program)(&needs);
    let script = repository.join("calibration/clients").join(client.script);
    let port = mock.address.port().to_string();
    let steps = Steps::of(command.arg(script).arg(port), client.tool)?;
    mock.stop()?;
    Ok(vec![steps.judged(what)])
}

/// The report of a program on its steps.
pub(super) struct Steps {
    /// How many were done, and what was wrong with the others.
    pub(super) measured: String,
    held: bool,
}

impl Steps {
    /// Runs a program that prints `ok NAME` or `failed NAME: why` for every step; one at least, and it fails if one does.
    pub(super) fn of(command: &mut Command, name: &str) -> Result<Self, Error> {
        let output = command
            .output()
            .map_err(Error::when(format!("starting {name}")))?;
        Ok(Self::read(&output))
    }

    fn read(output: &Output) -> Self {
        let said = String::from_utf8_lossy(&output.stdout);
        let begin = |word| said.lines().filter(move |line| line.starts_with(word));
        let (ok, failures) = (begin("ok ").count(), begin("failed ").collect::<Vec<_>>());
        let complete = output.status.success() && ok > 0;
        let mut measured = format!("{ok} of {} steps", ok + failures.len());
        if !complete {
            let last = String::from_utf8_lossy(&output.stderr);
            let last = last.lines().last().unwrap_or_default();
            let (status, failures) = (output.status, failures.join("; "));
            measured = format!("{measured}; {status} {failures}; {last}");
        }
        Self {
            measured,
            held: complete && failures.is_empty(),
        }
    }

    /// The bar that every one of them is done.
    pub(super) fn judged(self, what: &str) -> Bar {
        Bar::judged(what, "every step", self.measured, self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_held_to_every_step_that_it_names() {
        let check = |script: &str, measured: &str, held: bool| {
            let steps = Steps::of(Command::new("sh").args(["-c", script]), "sh").unwrap();
            assert!(steps.measured.starts_with(measured), "{}", steps.measured);
            assert_eq!(steps.held, held, "{script}");
        };
        check("echo ok a; echo ok b", "2 of 2 steps", true);
        let one = "1 of 2 steps; exit status: 1 failed b: why; last";
        let fails = "echo ok a; echo failed b: why; echo last >&2; exit 1";
        check(fails, one, false);
        check("echo ok a; echo failed b: why", "1 of 2 steps", false);
        check("echo ok a; exit 1", "1 of 1 steps; exit status: 1", false);
        check("true", "0 of 0 steps", false);
    }
}
