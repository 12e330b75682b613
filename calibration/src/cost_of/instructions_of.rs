//! The instructions that a program carries out, counted by Valgrind's callgrind: a measure of work that neither the machine nor its other
//! tenants move. What is asked of the program is left to others.

use crate::bench::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program that counts.
const VALGRIND: &str = "valgrind";

/// One program that is counted.
pub struct Callgrind {
    file: PathBuf,
}

impl Callgrind {
    /// Whether it can be had here.
    pub fn find() -> Result<(), Error> {
        let asked = Command::new(VALGRIND)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        match asked {
            Ok(status) if status.success() => Ok(()),
            _ => Err(Error::Missing(format!(
                "no {VALGRIND} that runs: instructions are counted by it"
            ))),
        }
    }

    /// Keeps its account in a directory of its own.
    pub fn below(directory: &Path) -> Self {
        Self {
            file: directory.join("callgrind.out"),
        }
    }

    /// The words in front of the program. It has to end by itself or by SIGTERM for there to be an account.
    pub fn words(&self) -> Vec<OsString> {
        let mut out = OsString::from("--callgrind-out-file=");
        out.push(&self.file);
        let fixed = ["--tool=callgrind", "--quiet"].map(OsString::from);
        [vec![VALGRIND.into()], fixed.to_vec(), vec![out]].concat()
    }

    /// How many instructions it took, once the program has ended.
    pub fn total(&self) -> Result<f64, Error> {
        let text = std::fs::read_to_string(&self.file)
            .map_err(|e| Error::io("reading callgrind's account", e))?;
        total(&text).ok_or_else(|| Error::Measured("callgrind's account has no total".to_owned()))
    }
}

/// The total of an account: it stands in the line `totals:`, or `summary:` where there is none.
fn total(account: &str) -> Option<f64> {
    let of = |name: &str| {
        let mut lines = account.lines().rev();
        let rest = lines.find_map(|line| line.strip_prefix(name))?;
        rest.split_whitespace().next()?.parse().ok()
    };
    of("totals:").or_else(|| of("summary:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read_from_an_account() {
        let check = |text: &str, expected| assert_eq!(total(text), expected, "{text}");
        check("events: Ir\nsummary: 7\n0 1\n\ntotals: 12\n", Some(12.0));
        check("events: Ir\nsummary: 7\n", Some(7.0));
        check("events: Ir\n", None);
    }
}
