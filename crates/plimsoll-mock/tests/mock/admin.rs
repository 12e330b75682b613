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
    let stub =
        r#"{"request": {"bodyPatterns": [{"equalTo": "x"}], "urll": "/x"}, "scenarioName": "s"}"#;
    let refused = client.send("POST", "/__admin/mappings", stub);
    assert_eq!(refused.status, 422);
    insta::assert_snapshot!(serde_json::to_string_pretty(&refused.json()).unwrap(), @r#"
    {
      "errors": [
        {
          "code": 10,
          "title": "Not available",
          "detail": "\"bodyPatterns\" is not available in this version",
          "source": {
            "pointer": "/request/bodyPatterns"
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
          "detail": "\"scenarioName\" is not available in this version",
          "source": {
            "pointer": "/scenarioName"
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
    let later = client.get("/__admin/requests");
    assert_eq!(later.status, 404);
    assert!(
        later
            .text()
            .contains("GET /__admin/requests is not available in this version")
    );
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
        listen: "0.0.0.0:0".parse().unwrap(),
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
        listen: "0.0.0.0:0".parse().unwrap(),
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
