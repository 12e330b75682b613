//! The host on which figures were measured.

use std::path::Path;
use std::process::Command;

/// Facts of host and version, as name and value.
pub fn facts(plimsoll: &Path) -> Vec<(&'static str, String)> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    vec![
        ("version", said(Command::new(plimsoll).arg("--version"))),
        ("commit", commit(source)),
        ("kernel", said(Command::new("uname").arg("-sr"))),
        ("processor", field("/proc/cpuinfo", "model name")),
        (
            "processors",
            std::thread::available_parallelism().map_or_else(|e| e.to_string(), |n| n.to_string()),
        ),
        ("memory", field("/proc/meminfo", "MemTotal")),
        ("load before", read("/proc/loadavg")),
    ]
}

/// The commit of a checkout; empty where there is none.
pub fn commit(checkout: &Path) -> String {
    let describe = ["describe", "--always", "--dirty", "--abbrev=12"];
    said(Command::new("git").current_dir(checkout).args(describe))
}

/// The machine as part of a file's name: its processor and how many there are, in lower case.
pub fn machine() -> String {
    let count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!("{}-{count}cpu", slug(&field("/proc/cpuinfo", "model name")))
}

/// Letters and digits, with single hyphens for what is between them.
fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("-").to_lowercase()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_a_name_that_a_file_may_have() {
        assert_eq!(
            slug("Intel(R) Xeon(R) CPU @ 2.60GHz"),
            "intel-r-xeon-r-cpu-2-60ghz"
        );
        assert!(machine().ends_with("cpu"));
    }
}
