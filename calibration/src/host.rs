//! What the figures were measured on.

use crate::bench::Bench;
use std::path::Path;
use std::process::Command;

/// Facts of host and version, as name and value.
pub fn facts(bench: &Bench) -> Vec<(&'static str, String)> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    let commit = said(Command::new("git").current_dir(source).args([
        "describe",
        "--always",
        "--dirty",
        "--abbrev=12",
    ]));
    vec![
        (
            "version",
            said(Command::new(&bench.plimsoll).arg("--version")),
        ),
        ("commit", commit),
        ("kernel", said(Command::new("uname").arg("-sr"))),
        ("processor", field("/proc/cpuinfo", "model name")),
        (
            "processors",
            std::thread::available_parallelism().map_or_else(|e| e.to_string(), |n| n.to_string()),
        ),
        ("memory", field("/proc/meminfo", "MemTotal")),
        ("load before", read("/proc/loadavg")),
        ("witness", bench.witness.post()),
    ]
}

fn said(command: &mut Command) -> String {
    match command.output() {
        Ok(output) => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        Err(error) => error.to_string(),
    }
}

fn field(file: &str, name: &str) -> String {
    let text = read(file);
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines
        .find(|(key, _)| key.trim() == name)
        .map_or_else(String::new, |(_, value)| value.trim().to_owned())
}

fn read(file: &str) -> String {
    std::fs::read_to_string(file)
        .unwrap_or_default()
        .trim()
        .to_owned()
}
