//! Experiment files as users write them: examples load, every refused file is refused with its full message.

use std::path::{Path, PathBuf};

use plimsoll_base::document::Problems;
use plimsoll_lab::experiment::{Disk, Experiment};

/// The environment of these tests: one variable.
fn variable(name: &str) -> Option<String> {
    (name == "API_KEY").then(|| "s3cret".to_owned())
}

fn load(path: &Path, overrides: &[&str]) -> Result<Experiment, Problems> {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    Experiment::load(path, &overrides, &Disk(variable))
}

/// Files below `directory` that `wanted` accepts, in order.
fn files(directory: &Path, wanted: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).expect("the directory exists") {
        let path = entry.expect("the directory can be read").path();
        if path.is_dir() {
            found.extend(files(&path, wanted));
        } else if wanted(&path) {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn every_example_loads() {
    let examples = files(Path::new("../../examples"), &|path| {
        path.ends_with("experiment.yaml")
    });
    assert!(!examples.is_empty());
    for path in examples {
        if let Err(problems) = load(&path, &[]) {
            panic!("{problems}");
        }
    }
}

#[test]
fn every_refused_file_says_where_and_what_to_write() {
    let cases = files(Path::new("tests/data/invalid"), &|path| {
        path.extension()
            .is_some_and(|extension| extension == "yaml")
            && path
                .parent()
                .is_some_and(|parent| parent.ends_with("invalid"))
    });
    assert!(cases.len() >= 25);
    for path in cases {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let problems = load(&path, &[]).map(|_| ()).expect_err(&name);
        let settings = {
            let mut settings = insta::Settings::clone_current();
            settings.set_snapshot_path("data/invalid");
            settings.set_prepend_module_to_snapshot(false);
            settings.set_omit_expression(true);
            settings.add_filter("tests/data/invalid/", "");
            settings
        };
        settings.bind(|| insta::assert_snapshot!(name, problems));
    }
}

/// `UPDATE=1 cargo test -p plimsoll-lab --test experiment` writes the schema anew.
#[test]
fn the_committed_schema_is_current() {
    let path = Path::new("schema/experiment.schema.json");
    let current = format!("{:#}\n", plimsoll_lab::schema::experiment());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &current).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == current,
        "{} is not current: run this test with UPDATE=1",
        path.display()
    );
}
