//! Stubs and their files: which file is written, which is removed, and what of `__files` is served by its path.

use crate::world::{Mock, config};
use plimsoll_mock::{Builtins, MockConfig};
use serde_json::json;
use std::fs;
use tempfile::TempDir;

const ID: &str = "5c3ab2a8-1f07-4d6e-9b9c-0123456789ab";

/// A mock whose root directory has these files.
fn with_files(files: &[(&str, &str)]) -> (TempDir, Mock) {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let mock = Mock::start(MockConfig {
        root_dir: Some(root.path().to_owned()),
        builtins: Builtins::default(),
        ..config()
    });
    (root, mock)
}

fn mapping(body: &str, persistent: bool) -> String {
    let response = json!({"body": body});
    json!({"id": ID, "persistent": persistent, "request": {"url": "/x"}, "response": response})
        .to_string()
}

/// The names of what is in a directory of the root.
fn names(root: &TempDir, directory: &str) -> Vec<String> {
    let entries = fs::read_dir(root.path().join(directory)).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().display().to_string())
        .collect();
    names.sort();
    names
}

#[test]
fn a_stub_is_saved_to_the_file_that_it_came_from() {
    let (root, mock) = with_files(&[("mappings/deep/own.json", &mapping("one", false))]);
    let mut client = mock.client();
    let path = format!("/__admin/mappings/{ID}");
    client.send("PUT", &path, &mapping("two", false));
    let saved = client.send("POST", "/__admin/mappings/save", "");
    assert_eq!(saved.status, 200);
    assert_eq!(names(&root, "mappings"), ["deep"]);
    assert_eq!(names(&root, "mappings/deep"), ["own.json"]);
    assert_eq!(client.send("POST", "/__admin/reset", "").status, 200);
    assert_eq!(client.get("/x").text(), "two");
}

#[test]
fn a_stub_with_another_name_stays_in_its_file() {
    let (root, mock) = with_files(&[]);
    let mut client = mock.client();
    let named = |name: &str| json!({"id": ID, "name": name, "persistent": true}).to_string();
    client.send("POST", "/__admin/mappings", &named("First one"));
    let path = format!("/__admin/mappings/{ID}");
    client.send("PUT", &path, &named("second"));
    let expected = [format!("first-one-{ID}.json")];
    assert_eq!(names(&root, "mappings"), expected);
    client.send("DELETE", &path, "");
    assert_eq!(names(&root, "mappings"), Vec::<String>::new());
}

#[test]
fn a_list_is_not_written() {
    let list = format!(r#"{{"mappings": [{}]}}"#, mapping("one", true));
    let (root, mock) = with_files(&[("mappings/list.json", &list)]);
    let mut client = mock.client();
    for (method, path) in [
        ("POST", "/__admin/mappings/save"),
        ("DELETE", &format!("/__admin/mappings/{ID}")),
        ("DELETE", "/__admin/mappings"),
    ] {
        let refused = client.send(method, path, "");
        assert_eq!(refused.status, 500, "{method} {path}");
        assert!(refused.text().contains("read-only"), "{}", refused.text());
    }
    assert_eq!(client.get("/x").text(), "one");
    let kept = fs::read_to_string(root.path().join("mappings/list.json"));
    assert_eq!(kept.unwrap(), list);
}

#[test]
fn what_is_removed_loses_its_file_if_it_is_persistent() {
    let check = |persistent: bool, method: &str, path: &str, body: &str| {
        let (root, mock) = with_files(&[("mappings/deep/a.json", &mapping("one", persistent))]);
        let mut client = mock.client();
        assert_eq!(client.send(method, path, body).status, 200, "{path}");
        assert_eq!(client.get("/x").status, 404, "{path}");
        let left = usize::from(!persistent);
        assert_eq!(
            names(&root, "mappings/deep").len(),
            left,
            "{path} {persistent}"
        );
    };
    for persistent in [true, false] {
        check(persistent, "DELETE", &format!("/__admin/mappings/{ID}"), "");
        check(persistent, "DELETE", "/__admin/mappings", "");
        let same = mapping("one", false);
        check(persistent, "POST", "/__admin/mappings/remove", &same);
    }
}

#[test]
fn files_are_served_by_their_paths() {
    let (_root, mock) = with_files(&[
        ("__files/a.xml", "<a/>"),
        ("__files/json/12345", "{}"),
        ("__files/dir/index.json", "[]"),
        ("secret", "x"),
    ]);
    let mut client = mock.client();
    for (path, body, content_type) in [
        ("/a.xml", "<a/>", "application/xml"),
        ("/a.xml?x=1", "<a/>", "application/xml"),
        ("/json/12345", "{}", "application/json"),
        ("/dir", "[]", "application/json;charset=utf-8"),
        ("/dir/", "[]", "application/json;charset=utf-8"),
    ] {
        let served = client.get(path);
        assert_eq!(
            (served.status, served.text().as_str()),
            (200, body),
            "{path}"
        );
        assert_eq!(served.field("Content-Type"), Some(content_type), "{path}");
    }
    for (method, path) in [
        ("PUT", "/a.xml"),
        ("GET", "/b.xml"),
        ("GET", "/%2e%2e/secret"),
    ] {
        assert_eq!(client.send(method, path, "").status, 404, "{method} {path}");
    }
    client.send(
        "POST",
        "/__admin/mappings",
        r#"{"request": {"url": "/a.xml"}}"#,
    );
    assert_eq!(client.get("/a.xml").text(), "");
}

#[test]
fn built_in_endpoints_yield_to_stubs() {
    let mock = Mock::start(MockConfig {
        builtins: Builtins::default(),
        ..config()
    });
    let mut client = mock.client();
    assert_eq!(client.get("/json/valid").status, 200);
    client.send(
        "POST",
        "/__admin/mappings",
        "{\"request\": {\"url\": \"/y\"}}",
    );
    assert_eq!(client.get("/json/valid").status, 404);
    let (_root, mock) = with_files(&[]);
    assert_eq!(mock.client().get("/json/valid").status, 404);
}

#[test]
fn names_in_fields_are_ascii() {
    let mock = Mock::start(config());
    let mut client = mock.client();
    client.send(
        "POST",
        "/__admin/mappings",
        r#"{"name": "grün 国", "request": {"url": "/n"}}"#,
    );
    assert_eq!(client.get("/n").field("Matched-Stub-Name"), Some("gr?n ?"));
}

#[test]
fn an_id_of_nothing_is_none_and_an_unknown_one_is_not_found() {
    let mock = Mock::start(config());
    let mut client = mock.client();
    for body in [r#"{"id": "", "uuid": null}"#, r#"{"uuid": ""}"#] {
        assert_eq!(client.send("POST", "/__admin/mappings", body).status, 201);
    }
    let path = format!("/__admin/mappings/{ID}");
    assert_eq!(client.send("PUT", &path, "").status, 404);
}
