//! The peers' behaviour when it was last recorded: `observed.txt`, one line per case.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// The peers, in the order of the columns.
pub const PEERS: [&str; 3] = ["hyper", "nginx", "HAProxy"];

/// The record.
#[derive(Debug, Default)]
pub struct Observed {
    /// The versions, by peer.
    pub versions: BTreeMap<String, String>,
    /// By `topic: case`, what each peer did.
    pub outcomes: BTreeMap<String, [String; 3]>,
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/strictness/observed.txt")
}

/// Reads the record.
pub fn load() -> Observed {
    let mut observed = Observed::default();
    for line in std::fs::read_to_string(path()).unwrap().lines() {
        let mut parts = line.split(" | ").map(str::to_owned);
        let first = parts.next().unwrap();
        let rest: Vec<String> = parts.collect();
        if let Some(peer) = first.strip_prefix("version ") {
            observed.versions.insert(peer.to_owned(), rest[0].clone());
        } else {
            let outcomes = rest.try_into().expect("an outcome per peer");
            observed.outcomes.insert(first, outcomes);
        }
    }
    observed
}

/// Writes the record.
pub fn save(observed: &Observed) {
    let mut text = String::new();
    for (peer, version) in &observed.versions {
        writeln!(text, "version {peer} | {version}").unwrap();
    }
    for (name, outcomes) in &observed.outcomes {
        writeln!(text, "{name} | {}", outcomes.join(" | ")).unwrap();
    }
    std::fs::write(path(), text).unwrap();
}

/// Whether this run rewrites what is recorded and generated.
#[expect(
    clippy::disallowed_methods,
    reason = "the switch of whoever runs the test"
)]
pub fn is_update() -> bool {
    std::env::var("UPDATE").is_ok_and(|value| value == "1")
}
