//! Configurations: what is refused, with all problems at once, and the example of the documentation.

use plimsoll_gateway::GatewayConfig;
use std::fmt::Write as _;
use std::path::Path;

#[test]
fn every_invalid_file_says_what_is_wrong_and_where() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/invalid");
    let mut files: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut messages = String::new();
    for file in files {
        let name = file.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        let problems = GatewayConfig::parse(name, &text).expect_err(name);
        writeln!(messages, "{problems}\n").unwrap();
    }
    insta::assert_snapshot!(messages);
}

#[test]
fn a_file_with_everything_is_accepted() {
    let text = include_str!("../data/everything.yaml");
    if let Err(problems) = GatewayConfig::parse("everything.yaml", text) {
        panic!("{problems}");
    }
}

#[test]
fn a_key_in_plain_text_is_not_shown() {
    let text = include_str!("../data/everything.yaml");
    let config = GatewayConfig::parse("everything.yaml", text).unwrap();
    assert!(!format!("{config:?}").contains("correct-horse"));
}
