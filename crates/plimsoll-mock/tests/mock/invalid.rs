//! Stub files that are refused: each with its message, and a mock that does not start on any of them.

use crate::world::config;
use plimsoll_mock::{MockConfig, MockError, run, validate};
use std::path::{Path, PathBuf};
use tokio::sync::watch;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/invalid")
}

#[test]
fn every_invalid_file_has_its_message() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(fixtures())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut shown = String::new();
    for file in files {
        let root = tempfile::tempdir().unwrap();
        let mappings = root.path().join("mappings");
        std::fs::create_dir(&mappings).unwrap();
        std::fs::create_dir(root.path().join("__files")).unwrap();
        std::fs::copy(&file, mappings.join(file.file_name().unwrap())).unwrap();
        let report = validate(root.path()).unwrap();
        assert!(!report.is_clean(), "{}", file.display());
        let (_stop, stopped) = watch::channel(true);
        let config = MockConfig {
            root_dir: Some(root.path().to_owned()),
            ..config()
        };
        let error = run(config, |_| panic!("must not start"), stopped).unwrap_err();
        assert!(matches!(error, MockError::Stubs(problems) if problems == report.problems));
        shown.push_str(&format!("{report}\n\n"));
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn a_directory_is_reported_as_a_whole() {
    let root = tempfile::tempdir().unwrap();
    let mappings = root.path().join("mappings");
    std::fs::create_dir(&mappings).unwrap();
    let id = "5c3ab2a8-1f07-4d6e-9b9c-0123456789ab";
    std::fs::write(mappings.join("a.json"), format!(r#"{{"id": "{id}"}}"#)).unwrap();
    std::fs::write(mappings.join("b.json"), format!(r#"{{"uuid": "{id}"}}"#)).unwrap();
    std::fs::write(
        mappings.join("c.json"),
        r#"{"mappings": [{}, {"request": {"customMatcher": {"name": "x"}}}]}"#,
    )
    .unwrap();
    std::fs::write(mappings.join("notes.txt"), "not a mapping").unwrap();
    std::os::unix::fs::symlink("/etc/hostname", mappings.join("out.json")).unwrap();
    let mut mkfifo = std::process::Command::new("mkfifo");
    mkfifo.arg(mappings.join("pipe.json")).status().unwrap();
    let report = validate(root.path()).unwrap();
    insta::assert_snapshot!(report, @r#"
    mappings/out.json: a link that leaves the root directory
    mappings/pipe.json: not a regular file
    mappings/b.json: /id: 5c3ab2a8-1f07-4d6e-9b9c-0123456789ab is already the id of a mapping in mappings/a.json
    mappings/c.json: /mappings/1/request/customMatcher: "customMatcher" is not available in this version
    2 of 4 stub mappings in 3 files supported (50 %)
    "#);
}

#[test]
fn a_root_that_is_not_there_is_an_error() {
    let error = validate(Path::new("/nonexistent/root")).unwrap_err();
    insta::assert_snapshot!(error, @"/nonexistent/root: No such file or directory (os error 2)");
}
