//! Sizes of files and folders: a file is read in one sitting, and the modules of a folder are seen at a glance.

use std::collections::{BTreeMap, BTreeSet};

use crate::{files, none};

/// Lines of a source file, its tests included.
const MOST_LINES: usize = 500;

/// Modules of a folder of source files: a module's file and the folder beside it are one, and the root of a crate is none.
const MOST_MODULES: usize = 20;

/// Files of rows, one for each thing that a table knows.
const DATA: [&str; 2] = [
    "crates/plimsoll-gateway/tests/gateway/tyk_fields/conf/rows.rs",
    "crates/plimsoll-gateway/tests/gateway/tyk_fields/definition/rows.rs",
];

/// Folders of the members of an open set, which are of one shape and each known by its name: there may be any number of them.
const OPEN_SETS: [(&str, &str); 9] = [
    ("bench/src/comparisons", "a comparison each"),
    ("calibration/src/checks", "a check each"),
    (
        "crates/plimsoll-gateway/tests/gateway",
        "a feature of the gateway each",
    ),
    (
        "crates/plimsoll/tests/cli",
        "a subcommand or a promise of the program each",
    ),
    (
        "crates/plimsoll-lab/src/topology/probe",
        "a source of samples each",
    ),
    (
        "crates/plimsoll-mock/src/admin",
        "an endpoint of the admin API each",
    ),
    (
        "crates/plimsoll-mock/tests/mock",
        "a feature of the mock each",
    ),
    (
        "crates/plimsoll-report/src/render/html",
        "a part of the page each",
    ),
    (
        "crates/plimsoll-wiremock/src/template/helper",
        "a helper of templates each",
    ),
];

/// Every source file that is held to a size.
fn sources() -> impl Iterator<Item = (String, String)> {
    let roots = ["bench", "calibration", "crates", "fuzz", "testbed"];
    roots.into_iter().flat_map(|root| files(root, &[".rs"]))
}

/// The folders of these files, each with the names of its modules.
fn folders<'a>(paths: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let mut folders: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for path in paths {
        let mut rest = path;
        while let Some((folder, name)) = rest.rsplit_once('/') {
            let module = name.strip_suffix(".rs").unwrap_or(name);
            if !matches!(module, "lib" | "main") {
                folders.entry(folder).or_default().insert(module);
            }
            rest = folder;
        }
    }
    folders
}

#[test]
fn files_are_short_enough_to_read() {
    let sources = sources().filter(|(path, _)| !DATA.contains(&path.as_str()));
    let lengths = sources.map(|(path, text)| (path, text.lines().count()));
    let long = lengths.filter(|(_, lines)| *lines > MOST_LINES);
    let told = long.map(|(path, lines)| format!("{path}: {lines}"));
    none(told.collect(), "source files above 500 lines");
}

#[test]
fn folders_hold_no_more_than_a_glance() {
    let paths: Vec<String> = sources().map(|(path, _)| path).collect();
    let folders = folders(paths.iter().map(String::as_str));
    let is_open = |folder: &str| OPEN_SETS.iter().any(|(open, _)| *open == folder);
    let told = folders
        .iter()
        .filter(|(folder, modules)| modules.len() > MOST_MODULES && !is_open(folder))
        .map(|(folder, modules)| format!("{folder}: {}", modules.len()));
    none(told.collect(), "source folders above 20 modules");
}

/// An exception that excepts nothing is a rule that nobody knows of.
#[test]
fn every_open_set_needs_its_exception() {
    let paths: Vec<String> = sources().map(|(path, _)| path).collect();
    let folders = folders(paths.iter().map(String::as_str));
    let is_needed = |open: &str| {
        let modules = folders.get(open);
        modules.is_some_and(|modules| modules.len() > MOST_MODULES)
    };
    let idle = OPEN_SETS.iter().filter(|(open, _)| !is_needed(open));
    none(
        idle.map(|(open, _)| (*open).to_owned()).collect(),
        "folders that need no exception",
    );
}
