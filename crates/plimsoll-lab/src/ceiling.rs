//! The generator's ceiling on this host as a file, and whether a stored one is this host's.
//!
//! Where the file is kept is the caller's decision.

use crate::error::LabError;
use crate::host;
use crate::record::rundir::write_atomically;
use plimsoll_base::units::{format_number, format_seconds};
use plimsoll_files::{Limit, read_text};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The value of [`Ceiling::schema`] in this version.
const SCHEMA: &str = "plimsoll.ceiling/1";
/// The file within its directory.
const FILE: &str = "ceiling.json";

/// How much generator and mock reach together on one host: a lower bound of what the generator reaches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ceiling {
    /// The format.
    pub schema: String,
    /// When it was measured: RFC 3339 with offset.
    pub measured_at: String,
    /// The host that it holds for.
    pub host: Identity,
    /// The generator's threads.
    pub shards: usize,
    /// The closed model. A throughput and no ceiling: no criterion is asked there.
    pub closed: ClosedThroughput,
    /// The open model.
    pub open: OpenCeiling,
}

/// Throughput of generator and mock without any schedule.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClosedThroughput {
    /// Virtual users.
    pub users: u32,
    /// Answered exchanges per second.
    pub achieved_per_s: f64,
}

/// The highest rate at which the generator's own criteria held.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenCeiling {
    /// Virtual users, each with a connection.
    pub connections: u32,
    /// The highest rate tried that held, in exchanges per second.
    pub holds_per_s: f64,
    /// The lowest rate tried that failed; `None` when none did.
    pub fails_per_s: Option<f64>,
    /// The resource that gave way there.
    pub gives_way: Option<String>,
    /// Why this is less than sure: either rate was tried too few times, or they are more than a tenth apart. `None` when it is sure.
    pub doubt: Option<String>,
    /// Median pacing lag at the rate that held, in seconds.
    pub pacing_lag_p50_s: Option<f64>,
    /// 99th percentile of it.
    pub pacing_lag_p99_s: Option<f64>,
}

/// Host and settings of a measured ceiling. A ceiling says nothing about another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The machine's name.
    pub hostname: String,
    /// Its processors.
    pub cpu_model: String,
    /// How many of them could be used.
    pub cpus: u32,
    /// Kernel release.
    pub kernel: String,
    /// Version of this program.
    pub plimsoll: String,
    /// How it was built: `release` or `debug`.
    pub build: String,
}

/// A stored ceiling.
#[derive(Debug, Clone, PartialEq)]
pub enum Stored {
    /// There is none.
    Absent,
    /// There is one that says nothing about this host, or nothing readable; why, in a sentence.
    Ignored(String),
    /// This host's.
    Usable(Box<Ceiling>),
}

impl Identity {
    /// This host's, for this program.
    #[must_use]
    pub fn here() -> Self {
        let facts = host::read();
        let build = if cfg!(debug_assertions) {
            "debug"
        } else {
            "release"
        };
        Self {
            hostname: host::name(),
            cpu_model: facts.cpu_model,
            cpus: facts.cpus,
            kernel: facts.kernel,
            plimsoll: env!("CARGO_PKG_VERSION").to_owned(),
            build: build.to_owned(),
        }
    }

    /// The first thing in which another one differs: what it is, the other's, ours.
    fn difference(&self, other: &Self) -> Option<(&'static str, String, String)> {
        let cpus = (self.cpus.to_string(), other.cpus.to_string());
        let pairs = [
            ("host", &self.hostname, &other.hostname),
            ("processor", &self.cpu_model, &other.cpu_model),
            ("number of usable processors", &cpus.0, &cpus.1),
            ("kernel", &self.kernel, &other.kernel),
            ("version of plimsoll", &self.plimsoll, &other.plimsoll),
            ("build of plimsoll", &self.build, &other.build),
        ];
        let mut pairs = pairs.into_iter();
        let (what, own, others) = pairs.find(|(_, own, others)| own != others)?;
        Some((what, others.clone(), own.clone()))
    }
}

impl Ceiling {
    /// A ceiling of this host and format.
    #[must_use]
    pub fn new(
        measured_at: String,
        shards: usize,
        closed: ClosedThroughput,
        open: OpenCeiling,
    ) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            measured_at,
            host: Identity::here(),
            shards,
            closed,
            open,
        }
    }

    /// Stores it below `directory`, which is made, in place of an older one. Gives the file.
    ///
    /// # Errors
    /// [`LabError`] when that cannot be written.
    pub fn store(&self, directory: &Path) -> Result<PathBuf, LabError> {
        fs::create_dir_all(directory)
            .map_err(LabError::storage("make the directory", directory))?;
        let file = directory.join(FILE);
        let mut text = serde_json::to_string_pretty(self)
            .map_err(|error| LabError::Internal(format!("a ceiling: {error}")))?;
        text.push('\n');
        write_atomically(&file, text.as_bytes())?;
        Ok(file)
    }
}

impl Stored {
    /// The ceilings stored below `directory`.
    #[must_use]
    pub fn read(directory: &Path) -> Self {
        let file = directory.join(FILE);
        match read_text(&file, Limit::DOCUMENT) {
            Ok(text) => Self::of(&file.display().to_string(), &text, &Identity::here()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::Absent,
            Err(error) => Self::Ignored(format!("{}: {error}", file.display())),
        }
    }

    fn of(file: &str, text: &str, here: &Identity) -> Self {
        let ceiling: Ceiling = match serde_json::from_str(text) {
            Ok(ceiling) => ceiling,
            Err(error) => return Self::Ignored(format!("{file}: not a ceiling: {error}")),
        };
        if ceiling.schema != SCHEMA {
            let found = ceiling.schema;
            return Self::Ignored(format!("{file}: its format is `{found}`, not `{SCHEMA}`"));
        }
        match here.difference(&ceiling.host) {
            Some((what, other, own)) => Self::Ignored(format!(
                "{file}: measured with another {what}: `{other}`, here `{own}`"
            )),
            None => Self::Usable(Box::new(ceiling)),
        }
    }
}

impl std::fmt::Display for Ceiling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (open, closed) = (&self.open, &self.closed);
        write!(f, "{}/s holds", format_number(open.holds_per_s))?;
        if let Some(doubt) = &open.doubt {
            write!(f, " ({doubt})")?;
        }
        write!(
            f,
            ", closed throughput {}/s with {} users",
            format_number(closed.achieved_per_s),
            closed.users
        )?;
        if let Some((p50, p99)) = open.pacing_lag_p50_s.zip(open.pacing_lag_p99_s) {
            let (p50, p99) = (format_seconds(p50), format_seconds(p99));
            write!(f, "; pacing lag p50 {p50}, p99 {p99}")?;
        }
        write!(f, "; measured {}", self.measured_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity {
            hostname: "ship".to_owned(),
            cpu_model: "Example".to_owned(),
            cpus: 2,
            kernel: "6.1".to_owned(),
            plimsoll: "0.1.0".to_owned(),
            build: "release".to_owned(),
        }
    }

    fn ceiling(host: Identity) -> Ceiling {
        let closed = ClosedThroughput {
            users: 50,
            achieved_per_s: 61_235.0,
        };
        let open = OpenCeiling {
            connections: 50,
            holds_per_s: 43_300.0,
            fails_per_s: Some(47_200.0),
            gives_way: Some("criterion 4, busiest thread".to_owned()),
            doubt: None,
            pacing_lag_p50_s: Some(0.000_09),
            pacing_lag_p99_s: Some(0.000_21),
        };
        Ceiling {
            host,
            ..Ceiling::new("2026-11-21T01:00:00+00:00".to_owned(), 1, closed, open)
        }
    }

    /// Whether a ceiling with this change is used, and what is said otherwise.
    fn check(change: fn(&mut Ceiling), expected: &str) {
        let mut stored = ceiling(identity());
        change(&mut stored);
        let text = serde_json::to_string(&stored).unwrap();
        match Stored::of("f", &text, &identity()) {
            Stored::Ignored(why) => assert_eq!(why, expected),
            other => assert_eq!((other, ""), (Stored::Usable(Box::new(stored)), expected)),
        }
    }

    #[test]
    fn only_this_hosts_is_used() {
        check(|_| (), "");
        check(
            |c| c.host.hostname = "boat".to_owned(),
            "f: measured with another host: `boat`, here `ship`",
        );
        check(
            |c| c.host.cpus = 8,
            "f: measured with another number of usable processors: `8`, here `2`",
        );
        check(
            |c| c.host.kernel = "7".to_owned(),
            "f: measured with another kernel: `7`, here `6.1`",
        );
        check(
            |c| c.host.plimsoll = "0.2.0".to_owned(),
            "f: measured with another version of plimsoll: `0.2.0`, here `0.1.0`",
        );
        check(
            |c| c.host.build = "debug".to_owned(),
            "f: measured with another build of plimsoll: `debug`, here `release`",
        );
        check(
            |c| c.schema = "plimsoll.ceiling/2".to_owned(),
            "f: its format is `plimsoll.ceiling/2`, not `plimsoll.ceiling/1`",
        );
    }

    #[test]
    fn what_is_no_ceiling_is_ignored() {
        let Stored::Ignored(why) = Stored::of("f", "{}", &identity()) else {
            panic!("used")
        };
        assert!(why.starts_with("f: not a ceiling: missing field"), "{why}");
    }

    #[test]
    fn what_is_stored_is_read_again() {
        let directory = tempfile::tempdir().unwrap();
        let below = directory.path().join("a/b");
        assert_eq!(Stored::read(&below), Stored::Absent);
        let ceiling = ceiling(Identity::here());
        ceiling.store(&below).unwrap();
        ceiling.store(&below).unwrap();
        assert_eq!(Stored::read(&below), Stored::Usable(Box::new(ceiling)));
        assert_eq!(fs::read_dir(&below).unwrap().count(), 1);
    }

    #[test]
    fn it_reads_as_one_line() {
        insta::assert_snapshot!(ceiling(identity()), @"43,300/s holds, closed throughput 61,235/s with 50 users; pacing lag p50 90.0 µs, p99 210 µs; measured 2026-11-21T01:00:00+00:00");
        let mut doubted = ceiling(identity());
        doubted.open.doubt = Some("it held in one try only".to_owned());
        let said = doubted.to_string();
        assert!(
            said.starts_with("43,300/s holds (it held in one try only), closed"),
            "{said}"
        );
    }
}
