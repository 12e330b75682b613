//! Configurations: what is refused, with all problems at once, and the example of the documentation.

use crate::secured::Realm;
use crate::support::read_as;
use plimsoll_gateway::GatewayConfig;
use plimsoll_testbed::authority::Authority;
use std::fmt::Write as _;
use std::path::Path;

#[test]
fn a_file_has_as_many_routes_as_its_length_allows() {
    let parse = |route: &dyn Fn(usize) -> String, count: usize| {
        let routes: String = (0..count).map(route).collect();
        let text = format!(
            "version: 1\nlisteners: {{ main: {{ address: '127.0.0.1:0' }} }}\nupstreams: {{ u: {{ endpoints: ['http://127.0.0.1:9'] }} }}\nroutes:\n{routes}"
        );
        GatewayConfig::parse("gateway.yaml", &text)
    };
    let route = |n| format!("  - {{ path: /service/{n}, upstream: u, strip: true }}\n");
    let parsed = parse(&route, 5_000);
    assert!(parsed.is_ok(), "{}", parsed.unwrap_err());
    let problems = parse(&|_| "  - { path: /, upstream: u }\n".to_owned(), 1_000).unwrap_err();
    assert_eq!((problems.iter().count(), problems.len()), (100, 999));
    let refused = parse(&|_| "  - {}\n".to_owned(), 10_000).unwrap_err();
    let refused = refused.to_string();
    assert!(
        refused.contains(" entries such as steps, routes"),
        "{refused}"
    );
}

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
