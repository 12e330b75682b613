//! The rules of the house that no compiler checks: crate edges, floors of modules, file headers, names, where `unsafe` may stand.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

#[path = "tidy/floors.rs"]
mod floors;
#[path = "tidy/modules.rs"]
mod modules;
#[path = "tidy/sizes.rs"]
mod sizes;
#[path = "tidy/tokens.rs"]
mod tokens;

/// Which crate may use which: ARCHITECTURE.md has the same list in words.
const EDGES: &[(&str, &[&str])] = &[
    (
        "plimsoll",
        &[
            "base",
            "experiment",
            "fault",
            "files",
            "gateway",
            "http",
            "lab",
            "load",
            "mock",
            "report",
        ],
    ),
    (
        "plimsoll-lab",
        &["base", "experiment", "files", "http", "load", "report"],
    ),
    ("plimsoll-experiment", &["base", "files", "load", "report"]),
    ("plimsoll-load", &["base", "http"]),
    ("plimsoll-fault", &["base", "http"]),
    ("plimsoll-mock", &["base", "files", "http", "wiremock"]),
    ("plimsoll-wiremock", &["base", "files", "http"]),
    (
        "plimsoll-gateway",
        &["base", "files", "http", "records", "redis", "secrets"],
    ),
    ("plimsoll-records", &["base", "http", "redis", "secrets"]),
    ("plimsoll-redis", &["http", "secrets"]),
    ("plimsoll-secrets", &["base", "files", "http"]),
    ("plimsoll-report", &["base"]),
    ("plimsoll-http", &["base"]),
    ("plimsoll-files", &[]),
    ("plimsoll-base", &[]),
];

/// Edges of the programs beside the crates.
const BESIDE: &[(&str, &[&str])] = &[
    ("bench", &["report", "testbed"]),
    ("calibration", &["base", "report", "testbed"]),
    ("fuzz", &["gateway", "http", "mock"]),
    ("testbed", &[]),
];

/// The only file with `unsafe`: docs/decisions/0003.
const UNSAFE_FILE: &str = "crates/plimsoll-http/src/counters_file.rs";

/// Scripted servers that answer late on purpose: being slow is what they are for.
const SLOW_SERVERS: [&str; 2] = [
    "crates/plimsoll-load/src/engine/tests/rig.rs",
    "crates/plimsoll-load/tests/transport/server.rs",
];

/// Where `${env:NAME}` is looked up: the one banned call outside a `clock.rs`.
const ENVIRONMENT: &str = "crates/plimsoll/src/environment.rs";

/// Columns of a line of prose in documents.
const MOST_COLUMNS: usize = 200;

/// Names that say nothing about what a file is for.
const FORBIDDEN_NAMES: &[&str] = &[
    "utils", "util", "common", "helpers", "manager", "misc", "mod",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// Every file below `dir` with one of the endings, by path relative to the root.
fn files(dir: &str, endings: &[&str]) -> BTreeMap<String, String> {
    fn visit(path: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                visit(&path, endings, found);
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    let root = root();
    let mut found = Vec::new();
    visit(&root.join(dir), endings, &mut found);
    let relative = |path: &Path| {
        path.strip_prefix(&root)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned()
    };
    found
        .iter()
        .map(|path| (relative(path), fs::read_to_string(path).unwrap()))
        .collect()
}

/// Crates of the workspace that a manifest names beyond those that it may. Tests of any crate may stand on the testbed.
fn edges_beyond(name: &str, manifest: &str, allowed: &[&str]) -> Vec<String> {
    let manifest = manifest.replace(
        "[dev-dependencies]\nplimsoll-testbed.workspace = true\n",
        "[dev-dependencies]\n",
    );
    let used = manifest.lines().filter_map(|line| {
        let rest = line.strip_prefix("plimsoll-")?;
        rest.split(['.', ' ', '=']).next()
    });
    used.filter(|used| !allowed.contains(used))
        .map(|used| format!("{name} -> plimsoll-{used}"))
        .collect()
}

/// Fails with every offender at once.
fn none(offenders: Vec<String>, rule: &str) {
    assert!(offenders.is_empty(), "{rule}:\n{}", offenders.join("\n"));
}

#[test]
fn crates_use_only_what_the_architecture_allows() {
    let mut offenders = Vec::new();
    let mut seen = BTreeSet::new();
    for (path, manifest) in files("crates", &["Cargo.toml"]) {
        let name = path.split('/').nth(1).unwrap().to_owned();
        let allowed = EDGES
            .iter()
            .find(|(from, _)| *from == name)
            .map(|(_, to)| *to);
        let allowed = allowed.unwrap_or_else(|| panic!("{name} is not in EDGES"));
        offenders.extend(edges_beyond(&name, &manifest, allowed));
        seen.insert(name);
    }
    assert_eq!(seen.len(), EDGES.len());
    for (name, allowed) in BESIDE {
        let manifest = fs::read_to_string(root().join(name).join("Cargo.toml")).unwrap();
        offenders.extend(edges_beyond(name, &manifest, allowed));
    }
    none(
        offenders,
        "an edge between crates that the architecture does not have",
    );
}

#[test]
fn every_file_says_what_it_is_for() {
    let silent = files("crates", &[".rs"])
        .into_iter()
        .filter(|(_, text)| !text.starts_with("//! "));
    none(silent.map(|(path, _)| path).collect(), "no `//!` header");
}

#[test]
fn names_say_something() {
    let vague = files("crates", &[".rs"]).into_keys().filter(|path| {
        FORBIDDEN_NAMES.contains(&Path::new(path).file_stem().unwrap().to_str().unwrap())
    });
    none(vague.collect(), "a name that says nothing");
}

/// The compiler denies unsafe code wherever no attribute names that lint.
#[test]
fn unsafe_stands_in_one_file() {
    let exempt = files("crates", &[".rs"])
        .into_iter()
        .filter(|(path, text)| {
            path != UNSAFE_FILE && !path.ends_with("tests/tidy.rs") && text.contains("unsafe_code")
        });
    none(
        exempt.map(|(path, _)| path).collect(),
        "exempt from the ban on unsafe code",
    );
}

#[test]
fn clocks_are_read_in_one_file_per_crate() {
    let lifted = files("crates", &[".rs"])
        .into_iter()
        .filter(|(path, text)| {
            let shell = path.ends_with("/clock.rs") || path == ENVIRONMENT;
            !shell && path.contains("/src/") && text.contains("clippy::disallowed_methods")
        });
    none(
        lifted.map(|(path, _)| path).collect(),
        "a banned call outside its home",
    );
}

#[test]
fn nothing_is_left_unfinished() {
    let marks = ["TODO", "FIXME", "XXX", "todo!(", "unimplemented!("];
    let mut offenders = Vec::new();
    for (path, text) in files("crates", &[".rs"]) {
        if path.ends_with("tests/tidy.rs") {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            if marks.iter().any(|mark| line.contains(mark)) {
                offenders.push(format!("{path}:{}: {line}", number + 1));
            }
        }
    }
    none(offenders, "unfinished by its own words");
}

#[test]
fn tests_do_not_sleep() {
    let mut offenders = Vec::new();
    for (path, text) in files("crates", &[".rs"]) {
        let in_tests = path.contains("/tests/") || path.ends_with("/tests.rs");
        let sleeps = ["thread::sleep", "time::sleep("]
            .iter()
            .any(|call| text.contains(call));
        if in_tests && sleeps && !path.ends_with("tests/tidy.rs") && !SLOW_SERVERS.contains(&&*path)
        {
            offenders.push(path);
        }
    }
    none(
        offenders,
        "a test that sleeps instead of waiting for an event",
    );
}

/// A comment is read alone, on hover: it names the thing.
#[test]
fn comments_say_what_a_thing_is() {
    let roots = ["bench", "calibration", "crates", "fuzz", "testbed"];
    let sources = roots.into_iter().flat_map(|root| files(root, &[".rs"]));
    let mut riddles = Vec::new();
    for (path, text) in sources {
        for (index, line) in text.lines().enumerate() {
            let comment = line.trim_start();
            let comment = ["/// ", "//! "]
                .iter()
                .find_map(|mark| comment.strip_prefix(mark));
            let is_riddle = |said: &str| said.starts_with("What ") || said.starts_with("The same ");
            if comment.is_some_and(is_riddle) {
                riddles.push(format!("{path}:{}", index + 1));
            }
        }
    }
    none(
        riddles,
        "comments that begin with `What` or `The same`: name the thing",
    );
}

#[test]
fn prose_is_narrow_enough_to_read() {
    let pages = files("docs", &[".md"]).into_iter();
    let pages = pages.chain(files("examples", &[".md"]));
    let top = [
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "GLOSSARY.md",
    ];
    let top = top.map(|name| {
        (
            name.to_owned(),
            fs::read_to_string(root().join(name)).unwrap(),
        )
    });
    let mut offenders = Vec::new();
    for (path, text) in pages.chain(top) {
        let mut is_code = false;
        for (number, line) in text.lines().enumerate() {
            is_code ^= line.trim_start().starts_with("```");
            let is_prose = !is_code && !line.starts_with('|') && !line.starts_with("    ");
            if is_prose && line.chars().count() > MOST_COLUMNS {
                offenders.push(format!("{path}:{}", number + 1));
            }
        }
    }
    none(offenders, "lines of prose above 200 characters");
}

#[test]
fn the_first_page_fits_a_hundred_lines() {
    let page = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(page.lines().count() <= 100);
}
