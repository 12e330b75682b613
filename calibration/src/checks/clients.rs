//! Clients that nobody here wrote drive our mock, unmodified: WireMock's Java client, Python's `wiremock`, npm's `wiremock-captain`.
//!
//! What they do stands in `calibration/clients/`: a program for each, which prints `ok NAME` or `failed NAME: why` for every step. They come from
//! `bench/peers/install`.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Trouble};
use crate::mock::Mock;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const CHECK: Check = Check {
    name: "clients",
    about: "WireMock's own clients, in Java, Python and JavaScript, drive the mock",
    run,
};

/// A client and the program that uses it.
struct Client {
    /// Its name in `bench/peers/install`.
    tool: &'static str,
    /// What must be there, below `target/peers`, and what is run: the program, its arguments before the port.
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

fn run(bench: &Bench) -> Result<Vec<Bar>, Trouble> {
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

fn drive(bench: &Bench, client: &Client, what: &str) -> Result<Vec<Bar>, Trouble> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let needs: PathBuf = repository.join("target/peers").join(client.needs);
    if !needs.exists() {
        let reason = format!("`bench/peers/install {}` brings it", client.tool);
        return Err(Trouble::Missing(reason));
    }
    let mock = Mock::start_with(bench, &[], &["--max-request-journal-entries=1000"])?;
    let mut command = (client.program)(&needs);
    let script = repository.join("calibration/clients").join(client.script);
    let output = command
        .arg(script)
        .arg(mock.address.port().to_string())
        .output()
        .map_err(Trouble::when(format!("starting {}", client.tool)))?;
    mock.stop()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let steps = |word: &str| said.lines().filter(|line| line.starts_with(word)).count();
    let (ok, failed) = (steps("ok "), steps("failed "));
    let failures: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("failed "))
        .collect();
    let complete = output.status.success() && ok > 0;
    let mut measured = format!("{ok} of {} steps", ok + failed);
    if !complete {
        let last = String::from_utf8_lossy(&output.stderr);
        let last = last.lines().last().unwrap_or_default();
        measured = format!(
            "{measured}; {} {}; {last}",
            output.status,
            failures.join("; ")
        );
    }
    Ok(vec![Bar::judged(
        what,
        "every step",
        measured,
        complete && failed == 0,
    )])
}
