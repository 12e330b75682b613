//! Where the programs are that stand beside ours: installed by `bench/peers/install`, or by the system.

use crate::Error;
use crate::bench::Bench;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs of the system, and how each is asked for its version.
const ASKED: &[(&str, &[&str])] = &[
    ("nginx", &["-v"]),
    ("haproxy", &["-v"]),
    ("go", &["version"]),
    ("java", &["-version"]),
];

/// Programs whose version the installer noted.
const NOTED: &[&str] = &[
    "wrk",
    "hey",
    "oha",
    "h2load",
    "toxiproxy-server",
    "wiremock",
];

/// Programs that the installer leaves to the system, and the Debian package that brings each.
const PACKAGES: &[(&str, &str)] = &[
    ("nginx", "nginx-light"),
    ("haproxy", "haproxy"),
    ("go", "golang-go"),
    ("java", "default-jre-headless"),
];

/// A program by name.
pub fn find(root: &Path, name: &str) -> Result<PathBuf, Error> {
    let installed = root.join("target/peers/bin");
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Debian keeps servers where ordinary users do not look.
    let system = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    std::iter::once(installed)
        .chain(system)
        .map(|directory| directory.join(name))
        .find(|program| program.is_file())
        .ok_or_else(|| missing(name))
}

/// WireMock's jar.
pub fn wiremock_jar(root: &Path) -> Result<PathBuf, Error> {
    let jar = root.join("target/peers/wiremock.jar");
    if jar.is_file() {
        Ok(jar)
    } else {
        Err(missing("wiremock"))
    }
}

/// Which versions the peers have, as far as they are installed.
pub fn versions(bench: &Bench) -> Vec<String> {
    let asked = ASKED.iter().filter_map(|(name, arguments)| {
        let program = find(&bench.root, name).ok()?;
        let output = Command::new(program).args(*arguments).output().ok()?;
        let text = [output.stdout, output.stderr].concat();
        version(&String::from_utf8_lossy(&text)).map(|version| format!("{name} {version}"))
    });
    let noted = NOTED.iter().filter_map(|name| {
        let file = bench.root.join("target/peers/versions").join(name);
        let version = std::fs::read_to_string(file).ok()?;
        Some(format!("{name} {}", version.trim()))
    });
    asked.chain(noted).collect()
}

/// The first word that holds a dotted number, from its first digit on.
fn version(text: &str) -> Option<String> {
    text.split_whitespace()
        .filter(|word| word.contains('.'))
        .find_map(|word| {
            word.find(|c: char| c.is_ascii_digit())
                .map(|at| &word[at..])
        })
        .map(|version| version.trim_end_matches('"').to_owned())
}

fn missing(name: &str) -> Error {
    let package = PACKAGES.iter().find(|(program, _)| *program == name);
    let remedy = match package {
        Some((_, package)) => format!("apt-get install {package}"),
        None => format!("bench/peers/install {name}"),
    };
    Error::Missing(format!("not installed: `{remedy}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        let check = |text, expected| assert_eq!(version(text).as_deref(), Some(expected));
        check("nginx version: nginx/1.22.1", "1.22.1");
        check(
            "HAProxy version 2.6.12-1 2026/10/17 - https://haproxy.org/",
            "2.6.12-1",
        );
        check("go version go1.26.8 linux/amd64", "1.26.8");
        check("openjdk version \"17.0.15\" 2025-04-15", "17.0.15");
    }

    #[test]
    fn what_is_missing_says_how_to_get_it() {
        let check = |name, expected: &str| {
            assert_eq!(
                missing(name).to_string(),
                format!("not installed: `{expected}`")
            );
        };
        check("oha", "bench/peers/install oha");
        check("nginx", "apt-get install nginx-light");
    }
}
