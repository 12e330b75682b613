//! Sizes of files and folders: a file is read in one sitting, and the names of a folder at a glance.

use std::collections::{BTreeMap, BTreeSet};

use crate::{files, none};

/// Lines of a source file, its tests included.
const MOST_LINES: usize = 500;

/// Entries of a folder of source files: a module's file and the folder beside it are two.
const MOST_ENTRIES: usize = 20;

/// Folders of the members of an open set, which are of one shape and each known by its name: there may be any number of them.
const OPEN_SETS: [(&str, &str); 7] = [
    ("crates/plimsoll/src/commands", "a subcommand each"),
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

/// Places that others still bring to size; none of them is checked. Remove each when it is done, and this list when it is empty.
const NOT_YET_TO_SIZE: [&str; 5] = [
    "bench/",
    "calibration/",
    "crates/plimsoll-experiment/src/",
    "crates/plimsoll-gateway/",
    "fuzz/",
];

/// Every source file that is held to a size.
fn sources() -> impl Iterator<Item = (String, String)> {
    let roots = ["bench", "calibration", "crates", "fuzz", "testbed"];
    let all = roots.into_iter().flat_map(|root| files(root, &[".rs"]));
    all.filter(|(path, _)| !NOT_YET_TO_SIZE.iter().any(|place| path.starts_with(place)))
}

/// The folders of these files, each with the names of its entries.
fn folders<'a>(paths: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let mut folders: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for path in paths {
        let mut rest = path;
        while let Some((folder, name)) = rest.rsplit_once('/') {
            folders.entry(folder).or_default().insert(name);
            rest = folder;
        }
    }
    folders
}

#[test]
fn files_are_short_enough_to_read() {
    let lengths = sources().map(|(path, text)| (path, text.lines().count()));
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
        .filter(|(folder, entries)| entries.len() > MOST_ENTRIES && !is_open(folder))
        .map(|(folder, entries)| format!("{folder}: {}", entries.len()));
    none(told.collect(), "source folders above 20 entries");
}

/// An exception that excepts nothing is a rule that nobody knows of.
#[test]
fn every_open_set_needs_its_exception() {
    let paths: Vec<String> = sources().map(|(path, _)| path).collect();
    let folders = folders(paths.iter().map(String::as_str));
    let is_needed = |open: &str| {
        let entries = folders.get(open);
        entries.is_some_and(|entries| entries.len() > MOST_ENTRIES)
    };
    let idle = OPEN_SETS.iter().filter(|(open, _)| !is_needed(open));
    none(
        idle.map(|(open, _)| (*open).to_owned()).collect(),
        "folders that need no exception",
    );
}
