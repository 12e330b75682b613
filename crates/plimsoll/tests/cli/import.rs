//! `plimsoll import`: foreign files become experiments that `plimsoll validate` accepts, and nothing is lost without a word.

use crate::program::Workspace;
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/import")
        .join(name)
}

/// Imports a file of the test data into `experiment.yaml`, which must be valid; gives the notes and the file.
fn imported(format: &str, file: &str, more: &[&str]) -> String {
    let workspace = Workspace::new();
    std::fs::copy(data(file), workspace.path().join(file)).unwrap();
    let args = [&["import", format, file, "-o", "experiment.yaml"], more].concat();
    let finished = workspace.run(&args).ended_with(0);
    let mut validate = workspace.command(&["validate", "experiment.yaml"]);
    for variable in ["COOKIE", "COOKIE_2", "AUTHORIZATION", "TOKEN", "KEY"] {
        validate.env(variable, "hidden");
    }
    let judged = validate.output().unwrap();
    assert!(judged.status.success(), "{judged:?}");
    format!(
        "{}---\n{}",
        finished.stderr,
        workspace.read("experiment.yaml")
    )
}

#[test]
fn a_recording_keeps_its_order_its_pauses_and_no_secret() {
    let text = imported(
        "har",
        "shop.har",
        &["--only-host", "shop.example", "--no-static", "--pauses"],
    );
    assert!(!text.contains("4711") && !text.contains("hush"));
    insta::assert_snapshot!(text, @r#"
    note: entry 7 is left out: `ws:` is no HTTP request
    note: entry 10 is left out: `data:` is no HTTP request
    note: 1 of 10 entries are left out by --no-static
    note: 1 of 10 entries are left out to other hosts than --only-host
    note: entry 6 was answered with 404, and only that passes
    note: entry 8 is left out: PROPFIND is not available in this version
    note: entry 9 is left out: the files of its form were not recorded
    note: a recorded secret is replaced by ${env:COOKIE}: set COOKIE before validating or running
    note: a recorded secret is replaced by ${env:AUTHORIZATION}: set AUTHORIZATION before validating or running
    note: a recorded secret is replaced by ${env:COOKIE_2}: set COOKIE_2 before validating or running
    note: entry 4 has `access_token` in its query: it stands in the file as recorded
    ---
    # Imported from shop.har.
    version: 1
    name: shop
    components:
      server: { external: "http://shop.example:8080" }
    scenario:
      - get: "/?utm=$$1"
        name: "GET /"
        headers:
          Cookie: "${env:COOKIE}"
      - post: "/api/cart?access_token=x"
        name: "POST /api/cart"
        pause: 2380ms
        headers:
          Cookie: "${env:COOKIE}"
          Content-Type: application/json
          Authorization: "${env:AUTHORIZATION}"
        body: "{\"price\":\"$$5 é\"}"
      - post: /login
        name: "POST /login"
        pause: 20ms
        headers:
          Cookie: "${env:COOKIE_2}"
          content-type: application/x-www-form-urlencoded
        body: "user=me&note=a%20b"
      - get: /missing
        name: "GET /missing"
        pause: 370ms
        headers:
          Cookie: "${env:COOKIE}"
        check: { status: 404 }
    arms:
      main:
        headers:                       # of every step
          Accept-Language: de
    load: { rate: 1/s, warmup: 0s, duration: 30s }   # iterations per second: a first look
    "#);
}

#[test]
fn requests_are_chosen_by_pattern() {
    let exclude = [
        "--exclude",
        "*.css",
        "--exclude",
        "http://cdn.*",
        "--exclude",
        "*/api/*",
    ];
    let text = imported("har", "shop.har", &exclude);
    let steps: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("name: \""))
        .collect();
    insta::assert_snapshot!(steps.join("\n"), @r#"
    name: "GET /"
    name: "POST /login"
    name: "GET /missing"
    "#);
    assert!(text.contains("1 of 10 entries are left out by --exclude '*.css'"));
}

#[test]
fn a_description_becomes_one_step_per_operation() {
    insta::assert_snapshot!(imported("openapi", "pets.yaml", &["--exclude", "* /health"]), @r#"
    note: of 2 servers the first is taken, http://pets.example:8080/v1; --server chooses
    note: set TOKEN to the token that `token` asks for, before validating or running
    note: GET /pets: made up, for want of an example: `limit`
    note: GET /pets: left out, being optional and without an example: `cursor`
    note: POST /pets: made up, for want of an example: parts of the body
    note: POST /pets: left out, being optional and without an example: properties of the body
    note: set KEY to the key that `key` asks for, before validating or running
    note: GET /pets/{petId}: made up, for want of an example: `petId`
    note: PUT /pets/{petId}: made up, for want of an example: `petId`
    note: TRACE /pets/{petId} is left out: its method is not available in this version
    note: PUT /pets/{petId}/photo is left out: its body is image/png: JSON, form and text are understood
    note: operations left out by --only and --exclude: 1
    ---
    # Imported from pets.yaml.
    version: 1
    name: Pet-Store
    components:
      server: { external: "http://pets.example:8080" }
    scenario:
      - get: "/v1/pets?limit=5&tags=small&tags=two%20words"
        name: "GET /pets"
        headers:
          X-Trace: t-1
          Authorization: "Bearer ${env:TOKEN}"
        check: { status: 200 }
      - post: /v1/pets
        name: "POST /pets"
        headers:
          X-Trace: t-1
          Authorization: "Bearer ${env:TOKEN}"
          Content-Type: application/json
        body: "{\"name\":\"textte\",\"kind\":\"dog\",\"weight\":1.0,\"born\":\"2020-02-03\",\"mother\":{\"name\":\"textte\"}}"
        check: { status: 201 }
      - get: "/v1/pets/00000000-0000-4000-8000-000000000001?api_key=${env:KEY}"
        name: "GET /pets/{petId}"
      - put: /v1/pets/00000000-0000-4000-8000-000000000001
        name: "PUT /pets/{petId}"
        headers:
          Authorization: "Bearer ${env:TOKEN}"
          Content-Type: application/x-www-form-urlencoded
        body: "name=Rex%20%241&kind=dog"
        check: { status: [200, 204] }
    load: { rate: 1/s, warmup: 0s, duration: 30s }   # iterations per second: a first look
    "#);
}

#[test]
fn a_relative_server_is_said_on_the_command_line() {
    let text = imported(
        "openapi",
        "minimal.json",
        &["--server", "http://127.0.0.1:8080/api/"],
    );
    insta::assert_snapshot!(text, @r#"
    ---
    # Imported from minimal.json.
    version: 1
    name: Minimal
    components:
      server: { external: "http://127.0.0.1:8080" }
    scenario:
      - post: /api/echo
        name: "POST /echo"
        headers:
          Content-Type: application/json
        body: "{\"n\":3,\"list\":[\"x\"]}"
        check: { status: 200 }
    load: { rate: 1/s, warmup: 0s, duration: 30s }   # iterations per second: a first look
    "#);
}

#[test]
fn every_refused_file_says_what_is_wrong() {
    let workspace = Workspace::new();
    let mut files: Vec<PathBuf> = std::fs::read_dir(data("invalid"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut messages = Vec::new();
    for path in files {
        let name = path.file_name().unwrap().to_str().unwrap();
        std::fs::copy(&path, workspace.path().join(name)).unwrap();
        let format = name.split('-').next().unwrap();
        let finished = workspace.run(&["import", format, name]).ended_with(2);
        assert_eq!(finished.stdout, "");
        messages.push(finished.stderr);
    }
    insta::assert_snapshot!(messages.concat(), @r"
    error: har-of-nothing-to-send.har: has no entry that can be carried over
      entry 1 is left out: `ws:` is no HTTP request
      entry 2 is left out: `data:` is no HTTP request
    error: har-of-several-hosts.har: has requests to several servers, and a scenario has one: choose with --only-host: http://cdn.example (1), http://shop.example:8080 (2)
    error: har-that-is-json.har: is not a HAR: missing field `log` at line 1 column 15
    error: har-that-is-no-json.har: is not a HAR: expected value at line 1 column 1
    error: har-without-entries.har: has no entries: nothing was recorded
    error: openapi-of-a-later-version.yaml: is OpenAPI 3.2.0: 3.0 and 3.1 are understood
    error: openapi-of-a-relative-server.yaml: its server is `/api`, on whatever host serves the description: say where with --server http://host:port/api
    error: openapi-of-nothing-to-send.yaml: has no operation that can be carried over
      POST /a is left out: its body is image/png: JSON, form and text are understood
      GET /b/{c} is left out: its path has a part that no parameter describes
      GET /d is left out: `other.yaml#/p` is in another file
      GET /e is left out: `#/nowhere` leads nowhere
    error: openapi-of-version-2.yaml: is Swagger 2.0: convert it to OpenAPI 3 first
    error: openapi-that-is-no-yaml.yaml:3:1: not valid YAML here: while parsing a node, did not find expected node content
    error: openapi-that-is-something-else.yaml: is not OpenAPI: it has no `openapi: 3…`
    error: openapi-without-a-server.yaml: names no server: say where it is with --server http://host:port/base
    error: openapi-without-paths.yaml: has no paths: there is nothing to request
    ");
}
