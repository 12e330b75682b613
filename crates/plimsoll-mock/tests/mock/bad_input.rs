//! Bad input: every kind of it gets WireMock's status and the shape of WireMock's errors, changes nothing, and leaves the mock serving.

use super::world::{Client, Mock, Received, config};
use plimsoll_mock::{AdminAccess, Credentials, MockConfig};
use serde_json::{Value, json};

const ID: &str = "5c3ab2a8-1f07-4d6e-9b9c-0123456789ab";

/// A mock with one stub, and files below its root and beside it.
struct World {
    root: tempfile::TempDir,
    mock: Mock,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let files = root.path().join("__files");
        std::fs::create_dir(&files).unwrap();
        std::fs::write(files.join("a.txt"), "inside").unwrap();
        std::fs::write(root.path().join("secret.txt"), "outside").unwrap();
        std::os::unix::fs::symlink("../secret.txt", files.join("link.txt")).unwrap();
        std::os::unix::fs::symlink("..", files.join("up")).unwrap();
        let mock = Mock::start(MockConfig {
            root_dir: Some(root.path().to_owned()),
            ..config()
        });
        let stub = json!({"id": ID, "request": {"url": "/x"}, "response": {"body": "as it was"}});
        let created = mock
            .client()
            .send("POST", "/__admin/mappings", &stub.to_string());
        assert_eq!(created.status, 201);
        Self { root, mock }
    }

    /// All that calls can change.
    fn state(&self) -> Vec<String> {
        let mut client = self.mock.client();
        let mut routes = [
            "/mappings",
            "/files",
            "/settings",
            "/scenarios",
            "/files/a.txt",
        ]
        .iter();
        let mut state: Vec<String> = routes
            .by_ref()
            .map(|route| client.get(&format!("/__admin{route}")).text())
            .collect();
        state.push(std::fs::read_to_string(self.root.path().join("secret.txt")).unwrap());
        state
    }

    /// A call that is refused with this status and changes nothing; its answer.
    fn refuses(&self, method: &str, path: &str, body: &str, status: u16) -> Received {
        let before = self.state();
        let refused = self.mock.client().send(method, path, body);
        assert_eq!(
            refused.status,
            status,
            "{method} {path} {body}: {}",
            refused.text()
        );
        assert_eq!(self.state(), before, "{method} {path} {body}");
        self.is_alive();
        refused
    }

    /// Sends a request that is refused with WireMock's errors; the first of them.
    fn says(&self, method: &str, path: &str, body: &str, status: u16) -> Value {
        let errors = self.refuses(method, path, body, status).json();
        let all = errors["errors"].as_array().expect("a list of errors");
        for error in all {
            assert!(
                error["code"].is_u64() && error["title"].is_string(),
                "{error}"
            );
        }
        all[0].clone()
    }

    fn is_alive(&self) {
        let mut client = self.mock.client();
        assert_eq!(client.get("/__admin/health").status, 200);
        assert_eq!(client.get("/x").text(), "as it was");
    }
}

/// A mapping that is refused at this place, for a reason with these words.
fn check(world: &World, mapping: &Value, pointer: &str, words: &str) {
    let mapping = mapping.to_string();
    let edit = format!("/__admin/mappings/{ID}");
    let import = format!("{{\"mappings\": [{mapping}]}}");
    for (method, path, body, prefix) in [
        ("POST", "/__admin/mappings", &mapping, ""),
        ("PUT", &edit, &mapping, ""),
        ("POST", "/__admin/mappings/import", &import, "/mappings/0"),
    ] {
        let error = world.says(method, path, body, 422);
        assert_eq!(error["code"], 10, "{error}");
        assert_eq!(
            error["source"]["pointer"],
            format!("{prefix}{pointer}"),
            "{error}"
        );
        let detail = error["detail"].as_str().unwrap();
        assert!(detail.contains(words), "{path}: {detail}");
    }
}

#[test]
fn mappings_that_are_wrong() {
    let world = World::new();
    let of_request = |name: &str, value: Value| json!({"request": {name: value}});
    check(&world, &json!({"foo": 1}), "/foo", "unknown property");
    check(
        &world,
        &of_request("urll", json!("/")),
        "/request/urll",
        "unknown property",
    );
    check(&world, &json!({"id": "none"}), "/id", "UUID");
    let operator = json!([{"equalsTo": "x"}]);
    check(
        &world,
        &of_request("bodyPatterns", operator),
        "/request/bodyPatterns/0",
        "not a valid match operation",
    );
    for (regex, words) in [("(?U)\\w+", "the flag `U`"), ("(", "regular expression")] {
        check(
            &world,
            &of_request("urlPattern", json!(regex)),
            "/request/urlPattern",
            words,
        );
    }
    for (name, words) in [
        ("../secret.txt", "outside"),
        ("link.txt", "outside"),
        ("up/secret.txt", "outside"),
        ("/../secret.txt", "outside"),
        ("%2e%2e/secret.txt", "encoded"),
        ("%2E./secret.txt", "encoded"),
        ("..%2Fsecret.txt", "encoded"),
        ("nothing.txt", "cannot be read"),
    ] {
        let mapping = json!({"response": {"bodyFileName": name}});
        check(&world, &mapping, "/response/bodyFileName", words);
    }
}

#[test]
fn what_is_no_json_and_ids_that_are_taken_or_none() {
    let world = World::new();
    for body in ["", "{", "[1]", "{\"request\": {}} more", "\u{0}"] {
        for path in [
            "/__admin/mappings",
            "/__admin/mappings/import",
            "/__admin/requests/count",
            "/__admin/settings",
        ] {
            let error = world.says("POST", path, body, 422);
            assert_eq!(error["code"], 10, "{path} {body:?}: {error}");
        }
    }
    let taken = json!({"id": ID}).to_string();
    let error = world.says("POST", "/__admin/mappings", &taken, 422);
    assert_eq!(error["code"], 109, "{error}");
    for method in ["GET", "PUT", "DELETE"] {
        let error = world.says(method, "/__admin/mappings/none", "{}", 400);
        assert_eq!(error["code"], 10, "{error}");
    }
    let other = ID.replace('5', "6");
    for method in ["GET", "PUT", "DELETE"] {
        world.refuses(method, &format!("/__admin/mappings/{other}"), "{}", 404);
    }
    world.says("GET", "/__admin/nothing", "", 404);
}

#[test]
fn files_that_lie_elsewhere() {
    let world = World::new();
    for name in [
        "../secret.txt",
        "%2e%2e/secret.txt",
        "..%2fsecret.txt",
        "link.txt",
        "up/secret.txt",
    ] {
        let path = format!("/__admin/files/{name}");
        for method in ["GET", "PUT", "DELETE"] {
            let refused = world.mock.client().send(method, &path, "evil").status;
            assert!([400, 404].contains(&refused), "{method} {name}: {refused}");
        }
    }
    assert_eq!(world.state().last().unwrap(), "outside");
    world.is_alive();
}

#[test]
fn a_body_that_is_too_long() {
    let world = World::new();
    let before = world.state();
    for target in ["/__admin/mappings", "/x"] {
        let mut client = world.mock.client();
        let length = (10 << 20) + 1;
        client.write(&format!(
            "POST {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{{"
        ));
        assert_eq!(client.read("POST").status, 413, "{target}");
        client.expect_end();
    }
    assert_eq!(world.state(), before);
    world.is_alive();
}

#[test]
fn a_template_that_fails_for_a_request() {
    let world = World::new();
    let template = |url: &str, part: &str, text: &str| {
        json!({
            "request": {"urlPath": url},
            "response": {part: text, "transformers": ["response-template"]},
        })
        .to_string()
    };
    let mut client = world.mock.client();
    for (url, part, text) in [
        ("/regex", "body", "{{matches 'a' request.query.q}}"),
        ("/file", "bodyFileName", "{{request.query.q}}"),
    ] {
        let created = client.send("POST", "/__admin/mappings", &template(url, part, text));
        assert_eq!(created.status, 201, "{}", created.text());
    }
    let before = world.state();
    for target in [
        "/regex?q=(",
        "/file?q=link.txt",
        "/file?q=../secret.txt",
        "/file?q=none",
    ] {
        let failed = client.get(target);
        assert_eq!(failed.status, 500, "{target}");
        assert!(!failed.text().is_empty() && !failed.text().contains("outside\n"));
    }
    assert_eq!(client.get("/regex?q=a").text(), "true");
    assert_eq!(client.get("/file?q=a.txt").text(), "inside");
    assert_eq!(world.state(), before);
    world.is_alive();
}

#[test]
fn calls_without_credentials() {
    let mock = Mock::start(MockConfig {
        admin: AdminAccess::Credentials(Credentials::new("u", "p")),
        ..config()
    });
    let call = |client: &mut Client, method: &str, path: &str, body: &str, field: &str| {
        client.write(&format!(
            "{method} /__admin{path} HTTP/1.1\r\nHost: localhost\r\n{field}Content-Length: {}\r\n\r\n{body}",
            body.len()
        ));
        client.read(method)
    };
    let allowed = "Authorization: Basic dTpw\r\n";
    for (method, path) in [
        ("POST", "/mappings"),
        ("DELETE", "/mappings"),
        ("POST", "/reset"),
        ("PUT", "/files/a.txt"),
        ("POST", "/shutdown"),
        ("GET", "/requests"),
    ] {
        for field in [
            "",
            "Authorization: Basic dTp3cm9uZw==\r\n",
            "Authorization: Bearer p\r\n",
        ] {
            let mut client = mock.client();
            let refused = call(&mut client, method, path, "{}", field);
            assert_eq!(refused.status, 401, "{method} {path} {field}");
            assert_eq!(refused.json()["errors"][0]["code"], 10);
        }
    }
    let mut client = mock.client();
    let listed = call(&mut client, "GET", "/mappings", "", allowed);
    assert_eq!(
        (listed.status, &listed.json()["meta"]["total"]),
        (200, &json!(0))
    );
}
