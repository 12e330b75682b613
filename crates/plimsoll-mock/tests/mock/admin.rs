//! The admin API: life of a mapping, errors in WireMock's shape, who may call.

use crate::world::{Mock, config};
use plimsoll_mock::{AdminAccess, Credentials, MockConfig, MockError, run};
use serde_json::json;
use tokio::sync::watch;

const ID: &str = "5c3ab2a8-1f07-4d6e-9b9c-0123456789ab";

#[test]
fn a_mapping_is_created_read_changed_and_removed() {
    let mock = Mock::start(config());
    let mut client = mock.client();
    let stub = |body: &str| json!({"id": ID, "request": {"url": "/x"}, "response": {"body": body}});
    let path = format!("/__admin/mappings/{ID}");

    assert_eq!(
        client.get("/x").text(),
        "No response could be served as there are no stub mappings in this WireMock instance."
    );
    let created = client.send("POST", "/__admin/mappings", &stub("one").to_string());
    assert_eq!(
        (created.status, created.json()["uuid"].as_str()),
        (201, Some(ID))
    );
    assert_eq!(client.get("/x").field("Matched-Stub-Id"), Some(ID));

    let again = client.send("POST", "/__admin/mappings", &stub("two").to_string());
    assert_eq!(
        (again.status, again.json()["errors"][0]["code"].as_i64()),
        (422, Some(109))
    );

    assert_eq!(
        client.send("PUT", &path, &stub("three").to_string()).status,
        200
    );
    assert_eq!(client.get("/x").text(), "three");
    assert_eq!(client.get(&path).json()["response"]["body"], "three");

    assert_eq!(client.send("DELETE", &path, "").text(), "{}");
    assert_eq!(client.send("DELETE", &path, "").status, 404);
    assert_eq!(client.get(&path).status, 404);
    assert_eq!(client.get("/x").status, 404);
}

#[test]
fn mappings_are_listed_in_match_order() {
    let mock = Mock::with_stubs(&[
        r#"{"name": "a"}"#,
        r#"{"name": "b", "priority": 9}"#,
        r#"{"name": "c"}"#,
    ]);
    let mut client = mock.client();
    let listed = client.get("/__admin/mappings?limit=2").json();
    let names: Vec<_> = listed["mappings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|stub| stub["name"].clone())
        .collect();
    assert_eq!(
        (json!(names), &listed["meta"]),
        (json!(["c", "a"]), &json!({"total": 3}))
    );
    assert_eq!(client.get("/__admin/mappings?limit=x").status, 400);
    assert_eq!(client.send("DELETE", "/__admin/mappings", "").status, 200);
    assert_eq!(client.get("/__admin/").json()["meta"]["total"], 0);
}

#[test]
fn reset_goes_back_to_the_files() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("mappings")).unwrap();
    let file = root.path().join("mappings/a.json");
    std::fs::write(&file, r#"{"request": {"url": "/a"}}"#).unwrap();
    let mock = Mock::start(MockConfig {
        root_dir: Some(root.path().to_owned()),
        ..config()
    });
    let mut client = mock.client();
    client.send("DELETE", "/__admin/mappings", "");
    assert_eq!(client.get("/a").status, 404);
    assert_eq!(
        client.send("POST", "/__admin/mappings/reset", "").status,
        200
    );
    assert_eq!(client.get("/a").status, 200);

    std::fs::write(&file, r#"{"odd": 1}"#).unwrap();
    let refused = client.send("POST", "/__admin/reset", "");
    insta::assert_snapshot!(refused.text(), @r#"{"errors":[{"code":10,"title":"Error parsing JSON","detail":"mappings/a.json: unknown property \"odd\"","source":{"pointer":"/odd"}}]}"#);
    assert_eq!(client.get("/a").status, 200, "nothing has changed");
}

#[test]
fn what_is_refused_changes_nothing_and_names_every_place() {
    let mock = Mock::start(config());
    let mut client = mock.client();
    let stub = r#"{"request": {"customMatcher": {"name": "x"}, "urll": "/x"}, "serveEventListeners": [{"name": "other"}]}"#;
    let refused = client.send("POST", "/__admin/mappings", stub);
    assert_eq!(refused.status, 422);
    insta::assert_snapshot!(serde_json::to_string_pretty(&refused.json()).unwrap(), @r#"
    {
      "errors": [
        {
          "code": 10,
          "title": "Not available",
          "detail": "\"customMatcher\" is not available in this version",
          "source": {
            "pointer": "/request/customMatcher"
          }
        },
        {
          "code": 10,
          "title": "Error parsing JSON",
          "detail": "unknown property \"urll\"",
          "source": {
            "pointer": "/request/urll"
          }
        },
        {
          "code": 10,
          "title": "Not available",
          "detail": "the listener \"other\", which is not WireMock's own, is not available in this version",
          "source": {
            "pointer": "/serveEventListeners/0"
          }
        }
      ]
    }
    "#);
    assert_eq!(client.get("/__admin/mappings").json()["meta"]["total"], 0);
}

#[test]
fn health_and_version() {
    let mock = Mock::start(config());
    let mut client = mock.client();
    assert_eq!(client.get("/__admin/health").json()["status"], "healthy");
    assert_eq!(
        client.get("/__admin/version").json()["version"],
        env!("CARGO_PKG_VERSION")
    );
    client.write("GET /__admin/version HTTP/1.1\r\nHost: localhost\r\nAccept: text/plain\r\n\r\n");
    assert_eq!(client.read("GET").text(), env!("CARGO_PKG_VERSION"));
    let later = client.get("/__admin/recorder");
    assert_eq!(later.status, 404);
    assert!(
        later
            .text()
            .contains("GET /__admin/recorder is not available in this version")
    );
    let docs = client.get("/__admin/docs");
    assert!(docs.text().contains("POST /__admin/mappings/import"));
}

#[test]
fn an_import_is_done_as_a_whole() {
    const OTHER: &str = "5c3ab2a8-1f07-4d6e-9b9c-0123456789ac";
    let mock = Mock::start(config());
    let mut client = mock.client();
    let mut import =
        |mappings: serde_json::Value, options: serde_json::Value, expected: &[&str]| {
            let body = json!({"mappings": mappings, "importOptions": options}).to_string();
            let answer = client.send("POST", "/__admin/mappings/import", &body);
            assert_eq!((answer.status, &*answer.text()), (200, ""));
            let listed = client.get("/__admin/mappings").json();
            let listed = listed["mappings"].as_array().unwrap();
            let urls: Vec<_> = listed
                .iter()
                .map(|stub| stub["request"]["url"].as_str().unwrap())
                .collect();
            assert_eq!(urls, expected);
        };
    let stub = |id: Option<&str>, url: &str| json!({"id": id, "request": {"url": url}});
    let first = json!([
        stub(Some(ID), "/a"),
        stub(None, "/b"),
        stub(Some(OTHER), "/c")
    ]);
    import(first, json!(null), &["/a", "/b", "/c"]);
    let again = json!([stub(Some(ID), "/a2"), stub(None, "/d")]);
    import(
        again.clone(),
        json!({"duplicatePolicy": "IGNORE"}),
        &["/d", "/a", "/b", "/c"],
    );
    let replace = json!({"duplicatePolicy": "OVERWRITE", "deleteAllNotInImport": true});
    import(again, replace, &["/d", "/a2"]);

    let mut refuse = |body: &str, pointer: &str| {
        let refused = client.send("POST", "/__admin/mappings/import", body);
        let place = &refused.json()["errors"][0]["source"]["pointer"];
        assert_eq!((refused.status, place.as_str()), (422, Some(pointer)));
        assert_eq!(client.get("/__admin/mappings").json()["meta"]["total"], 2);
    };
    refuse(
        r#"{"mappings": [{}], "importOptions": {"duplicatePolicy": "WHAT"}}"#,
        "/importOptions/duplicatePolicy",
    );
    refuse(
        r#"{"mappings": [{}, {"request": {"x": 1}}]}"#,
        "/mappings/1/request/x",
    );
    refuse("{}", "/mappings");
}

#[test]
fn mappings_are_removed_by_id_or_by_equal_request() {
    let mock = Mock::with_stubs(&[
        &json!({"id": ID, "request": {"url": "/a"}}).to_string(),
        r#"{"request": {"url": "/b", "method": "GET"}, "response": {"status": 201}}"#,
        r#"{"request": {"url": "/c"}}"#,
    ]);
    let mut client = mock.client();
    let by_id = json!({"id": ID, "request": {"url": "/other"}});
    let by_request = json!({"request": {"method": "GET", "url": "/b"}});
    let body = json!({"mappings": [by_id, by_request, {"request": {"url": "/d"}}]}).to_string();
    let removed = client.send("POST", "/__admin/mappings/remove", &body);
    assert_eq!((removed.status, &*removed.text()), (200, ""));
    let left = client.get("/__admin/mappings").json();
    assert_eq!(left["mappings"].as_array().unwrap().len(), 1);
    assert_eq!(left["mappings"][0]["request"]["url"], "/c");
}

#[test]
fn mappings_are_found_and_removed_by_metadata() {
    let mock = Mock::with_stubs(&[
        r#"{"name": "a", "metadata": {"team": "red"}}"#,
        r#"{"name": "b", "metadata": {"team": "blue"}}"#,
        r#"{"name": "c"}"#,
    ]);
    let mut client = mock.client();
    let mut call = |route: &str, body: &str| {
        let path = format!("/__admin/mappings/{route}-by-metadata");
        client.send("POST", &path, body)
    };
    let found = call("find", r#"{"contains": "red"}"#).json();
    assert_eq!(
        (&found["meta"]["total"], &found["mappings"][0]["name"]),
        (&json!(1), &json!("a"))
    );
    assert_eq!(call("find", r#"{"x": "red"}"#).status, 422);
    assert_eq!(call("remove", r#"{"contains": "blue"}"#).text(), "{}");
    assert_eq!(client.get("/__admin/mappings").json()["meta"]["total"], 2);
}

#[test]
fn settings_delay_stubs_that_have_no_delay_of_their_own() {
    let mock = Mock::with_stubs(&[
        r#"{"request": {"url": "/own"}, "response": {"fixedDelayMilliseconds": 0}}"#,
        r#"{"request": {"url": "/open"}}"#,
    ]);
    let mut client = mock.client();
    let settings = |client: &mut crate::world::Client| client.get("/__admin/settings").json();
    assert_eq!(
        settings(&mut client),
        json!({"settings": {"proxyPassThrough": true}})
    );
    let delay =
        json!({"fixedDelay": 40, "delayDistribution": {"type": "fixed", "milliseconds": 2}});
    let set = client.send("POST", "/__admin/settings", &delay.to_string());
    assert_eq!((set.status, &*set.text()), (200, ""));
    assert_eq!(settings(&mut client)["settings"]["fixedDelay"], 40);
    client.get("/own");
    client.get("/open");
    let listed = client.get("/__admin/requests").json();
    let delays = [0, 1].map(|index| listed["requests"][index]["timing"]["addedDelay"].clone());
    assert_eq!(json!(delays), json!([42, 2]));

    let extended = r#"{"extended": {"a": {"b": 1}}}"#;
    assert_eq!(
        client
            .send("PATCH", "/__admin/settings/extended", extended)
            .text(),
        "{}"
    );
    assert_eq!(
        settings(&mut client)["settings"]["extended"],
        json!({"a": {"b": 1}})
    );
    let refused = client.send("PUT", "/__admin/settings", r#"{"fixedDelay": "x"}"#);
    assert_eq!(
        (
            refused.status,
            settings(&mut client)["settings"]["fixedDelay"].as_i64()
        ),
        (422, Some(40))
    );
    client.send(
        "PUT",
        "/__admin/settings",
        r#"{"settings": {"fixedDelay": null}}"#,
    );
    assert_eq!(
        settings(&mut client),
        json!({"settings": {"proxyPassThrough": false}})
    );
}

fn with_root() -> (tempfile::TempDir, Mock) {
    let root = tempfile::tempdir().unwrap();
    let mock = Mock::start(MockConfig {
        root_dir: Some(root.path().to_owned()),
        ..config()
    });
    (root, mock)
}

#[test]
fn files_are_written_read_and_removed_below_their_directory() {
    let (root, mock) = with_root();
    let mut client = mock.client();
    assert_eq!(client.get("/__admin/files").text(), "[ ]");
    let written = client.send("PUT", "/__admin/files/a/b.txt", "hello");
    assert_eq!((written.status, &*written.text()), (200, "\"aGVsbG8=\""));
    assert_eq!(client.get("/__admin/files").text(), "[ \"a/b.txt\" ]");
    assert_eq!(client.get("/__admin/files/a/b.txt").text(), "hello");

    let stub = r#"{"request": {"url": "/x"}, "response": {"bodyFileName": "a/b.txt"}}"#;
    assert_eq!(client.send("POST", "/__admin/mappings", stub).status, 201);
    client.send("PUT", "/__admin/files/a/b.txt", "changed");
    assert_eq!(client.get("/x").text(), "changed");

    std::os::unix::fs::symlink(root.path(), root.path().join("__files/out")).unwrap();
    for name in ["../x.txt", "%2e%2e/x.txt", "a/../../x.txt", "out/x.txt"] {
        let refused = client.send("PUT", &format!("/__admin/files/{name}"), "x");
        assert_eq!(refused.status, 400, "{name}");
    }
    assert!(!root.path().join("x.txt").exists());
    assert_eq!(
        client.send("DELETE", "/__admin/files/a/b.txt", "").status,
        200
    );
    assert_eq!(client.get("/__admin/files/a/b.txt").status, 404);
    assert_eq!(
        client.send("DELETE", "/__admin/files/a/b.txt", "").status,
        200
    );
}

#[test]
fn what_is_saved_comes_back_with_a_reset() {
    let (root, mock) = with_root();
    let mut client = mock.client();
    let kept = json!({"id": ID, "name": "a/b", "persistent": true, "request": {"url": "/kept"}});
    assert_eq!(
        client
            .send("POST", "/__admin/mappings", &kept.to_string())
            .status,
        201
    );
    client.send(
        "POST",
        "/__admin/mappings",
        r#"{"request": {"url": "/lost"}}"#,
    );
    client.send("POST", "/__admin/reset", "");
    assert_eq!(
        (client.get("/kept").status, client.get("/lost").status),
        (200, 404)
    );

    let path = format!("/__admin/mappings/{ID}");
    let edited = json!({"persistent": true, "request": {"url": "/edited"}, "name": "a/b"});
    client.send("PUT", &path, &edited.to_string());
    client.send(
        "POST",
        "/__admin/mappings",
        r#"{"request": {"url": "/saved"}}"#,
    );
    assert_eq!(client.send("POST", "/__admin/mappings/save", "").text(), "");
    client.send("POST", "/__admin/mappings/reset", "");
    assert_eq!(
        (client.get("/edited").status, client.get("/saved").status),
        (200, 200)
    );

    client.send("DELETE", &path, "");
    client.send("POST", "/__admin/mappings/reset", "");
    assert_eq!(client.get("/edited").status, 404);
    let files = std::fs::read_dir(root.path().join("mappings")).unwrap();
    assert_eq!(files.count(), 1);
}

#[test]
fn a_client_can_end_it() {
    let mock = Mock::start(MockConfig {
        shards: 2,
        ..config()
    });
    let mut client = mock.client();
    assert_eq!(client.send("POST", "/__admin/shutdown", "").status, 200);
    client.expect_end();
    assert_eq!(mock.ended().received, 1);
}

#[test]
fn pages_of_other_sites_are_refused() {
    let mock = Mock::start(config());
    let own = mock.address.to_string();
    let check = |host: &str, fields: &str, status: u16| {
        let mut client = mock.client();
        client.write(&format!(
            "GET /__admin/health HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n"
        ));
        assert_eq!(client.read("GET").status, status, "{host} {fields}");
    };
    check(&own, "", 200);
    check(&own, &format!("Origin: http://{own}\r\n"), 200);
    check("localhost:1", "", 200);
    check("rebound.example", "", 403);
    check(&own, "Origin: http://evil.example\r\n", 403);
    check(&own, "Origin: null\r\n", 403);
}

#[test]
fn credentials_are_asked_for() {
    let mock = Mock::start(MockConfig {
        listen: Some("0.0.0.0:0".parse().unwrap()),
        admin: AdminAccess::Credentials(Credentials::new("u", "p")),
        ..config()
    });
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], mock.address.port()));
    let check = |fields: &str, status: u16| {
        let mut client = crate::world::Client::connect(address);
        client.write(&format!(
            "GET /__admin/health HTTP/1.1\r\nHost: any.example\r\n{fields}\r\n"
        ));
        assert_eq!(client.read("GET").status, status, "{fields}");
    };
    check("", 401);
    check("Authorization: Basic dTp3cm9uZw==\r\n", 401);
    check("Authorization: Basic dTpw\r\n", 200);
}

#[test]
fn off_loopback_the_admin_api_is_not_open_by_default() {
    let (_stop, stopped) = watch::channel(true);
    let config = MockConfig {
        listen: Some("0.0.0.0:0".parse().unwrap()),
        ..config()
    };
    let error = run(
        config.clone(),
        |_| panic!("must not start"),
        stopped.clone(),
    )
    .unwrap_err();
    assert!(matches!(error, MockError::Config(_)), "{error}");
    let open = MockConfig {
        admin: AdminAccess::Open,
        ..config
    };
    assert!(run(open, |_| {}, stopped).is_ok());
}

#[test]
fn a_body_is_in_the_charset_that_it_says() {
    let mock = Mock::start(config());
    let mut client = mock.client();
    // "é" in ISO 8859-1, and no UTF-8.
    let body = b"{\"response\": {\"body\": \"\xe9\"}}";
    let mut check = |charset: &str, expected: &str| {
        let head = format!(
            "POST /__admin/mappings HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\nContent-Type: application/json{charset}\r\n\r\n",
            body.len()
        );
        client.write_bytes(&[head.as_bytes(), body].concat());
        assert_eq!(client.read("POST").status, 201);
        assert_eq!(client.get("/").text(), expected, "{charset}");
    };
    check("; charset=ISO-8859-1", "é");
    check("", "\u{fffd}");
}
