//! Configurations: what is refused, with all problems at once, and the example of the documentation.

use crate::secured::Realm;
use crate::support::read_as;
use plimsoll_gateway::GatewayConfig;
use plimsoll_testbed::authority::Authority;
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

/// The files around these configurations, but for the maps, are made anew: certificates expire.
#[test]
fn every_invalid_file_about_certificates_and_shards_says_what_is_wrong_and_where() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/invalid-with-files");
    let realm = Realm::new();
    let other = Authority::new().unwrap();
    let expired = realm.authority.issue_expired(&["old.example"]).unwrap();
    let authority = &realm.authority;
    for (name, text) in [
        ("other.key", &*authority.issue(&["x"]).unwrap().key),
        ("expired.pem", &expired.certificate),
        ("expired.key", &expired.key),
        (
            "expired-ca.pem",
            Authority::expired().unwrap().certificate(),
        ),
        ("empty.txt", "\n"),
        ("lines.txt", "one\ntwo\n"),
        ("expired.crl", &authority.revoked(&[], 2020).unwrap()),
        ("other.crl", &other.revoked(&[], 2099).unwrap()),
        (
            "forged.crl",
            &authority
                .impersonated()
                .unwrap()
                .revoked(&[], 2099)
                .unwrap(),
        ),
    ] {
        realm
            .files
            .lock()
            .unwrap()
            .insert(name.to_owned(), text.into());
    }
    let mut around = realm.files.lock().unwrap();
    around.insert("bytes.txt".to_owned(), vec![0xff]);
    drop(around);
    for map in std::fs::read_dir(dir.join("maps")).unwrap() {
        let map = map.unwrap();
        let name = format!("maps/{}", map.file_name().to_str().unwrap());
        realm
            .files
            .lock()
            .unwrap()
            .insert(name, std::fs::read(map.path()).unwrap());
    }
    let mut files: Vec<_> = (std::fs::read_dir(&dir).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    let mut messages = String::new();
    for file in files {
        let name = file.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        let problems = read_as(name, &text, &realm.files).expect_err(name);
        writeln!(messages, "{problems}\n").unwrap();
    }
    insta::with_settings!({ filters => [("authority [0-9a-f]{8}", "authority N")] }, {
        insta::assert_snapshot!(messages);
    });
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
    let shown = format!("{config:?}");
    assert!(!shown.contains("correct-horse") && !shown.contains("not-to-be-shown"));
}
