//! `plimsoll import`: foreign files become experiments that `plimsoll validate` accepts, and nothing is lost without a word.

use crate::program::{Finished, Server, Workspace};
use serde_json::{Map, Value, json};
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
    note: 1 of 10 entries are left out as no HTTP requests: `data:`
    note: 1 of 10 entries are left out as no HTTP requests: `ws:`
    note: 1 of 10 entries are left out by --no-static
    note: 1 of 10 entries are left out to other hosts than --only-host
    note: entry 6 was answered with 404, and only that passes
    note: entry 8 is left out: PROPFIND is not available in this version
    note: entry 9 is left out: the file `a.png` of its form was not recorded
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
    note: PUT /pets/{petId}/photo is left out: its body is image/png: JSON, forms and text are understood
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

/// A file of the test data with this server in it, imported into `experiment.yaml`, judged, and run for one iteration, each step of which must be
/// answered with what the mock answers everything with; gives the notes, the file, and the requests as the mock saw them.
fn imported_and_run(format: &str, file: &str, more: &[&str]) -> (String, Vec<Value>) {
    let workspace = Workspace::new();
    let mock = Server::that_remembers(&workspace);
    let host = mock.main().to_string();
    let text = std::fs::read_to_string(data(file))
        .unwrap()
        .replace("HOST", &host);
    workspace.write(file, &format!("\u{feff}{text}"));
    let args = [&["import", format, file, "-o", "experiment.yaml"], more].concat();
    let finished = workspace.run(&args).ended_with(0);
    let secrets = ["AUTHORIZATION", "COOKIE", "BASIC"];
    let hidden = |args: &[&str]| {
        let mut command = workspace.command(args);
        command.envs(secrets.map(|name| (name, "hidden")));
        Finished::of(command.output().unwrap())
    };
    hidden(&["validate", "experiment.yaml"]).ended_with(0);
    let run = [
        "run",
        "experiment.yaml",
        "--out",
        "run",
        "--no-ui",
        "--set",
        "load.duration=1s",
    ];
    let ended = hidden(&run);
    assert!(matches!(ended.code, Some(0 | 4 | 6)), "{ended:?}");
    let arm = &workspace.json("run/summary.json")["arms"]["main"];
    let statuses: Vec<&String> = arm["outcomes"]["answered"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(statuses, ["200"], "{arm}");
    let seen = mock.requests();
    let text = format!(
        "{}---\n{}",
        finished.stderr,
        workspace.read("experiment.yaml")
    );
    (text.replace(&host, "HOST"), seen)
}

/// Requests in short: method, target and body.
fn in_short(requests: &[Value]) -> String {
    let lines = requests.iter().map(|request| {
        let text = |key: &str| request[key].as_str().unwrap_or_default().to_owned();
        format!("{} {} {:?}", text("method"), text("url"), text("body"))
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn recordings_of_all_browsers_are_read() {
    let (text, seen) = imported_and_run("har", "browsers.har", &[]);
    insta::assert_snapshot!(text, @r#"
    note: 1 of 16 entries are left out as no HTTP requests: `blob:`
    note: 1 of 16 entries are left out as no HTTP requests: `data:`
    note: 1 of 16 entries are left out as no HTTP requests: `wss:`
    note: 1 of 16 entries are left out that became a WebSocket or another protocol
    note: 2 of 16 entries are left out without an answer: aborted, blocked, or still under way
    note: entry 7 is left out: its body is 8 bytes that are no text: put them into a file and name it as `body_file`
    note: entry 14 was answered by the browser's cache; here it goes to the server
    note: entry 14 has two of `referer`: the first is taken
    note: entry 15 seems to have a password in its body: it stands in the file as recorded
    ---
    # Imported from browsers.har.
    version: 1
    name: browsers
    components:
      server: { external: "http://HOST" }
    scenario:
      - get: "/caf%C3%A9?q=a|b%20c"
        name: "GET /café"
        headers:
          accept: text/html
          sec-ch-ua-platform: "\"Linux\""
      - post: /chrome
        name: "POST /chrome"
        headers:
          content-type: "multipart/form-data; boundary=----WebKitFormBoundaryAbC"
        body: "------WebKitFormBoundaryAbC\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1 $$x\r\n------WebKitFormBoundaryAbC--\r\n"
      - post: /firefox
        name: "POST /firefox"
        headers:
          Content-Type: "multipart/form-data; boundary=---------------------------4242"
          Accept: "*/*, text/html"
        body: "-----------------------------4242\r\nContent-Disposition: form-data; name=\"b\"\r\n\r\n2\r\n-----------------------------4242--\r\n"
      - post: /params
        name: "POST /params"
        multipart:
          tag: [{ value: x }, { value: "y" }]
          file: { value: content, filename: note.txt, type: text/plain }
      - put: /safari
        name: "PUT /safari"
        headers:
          Content-Type: application/json
        body: "{\"a\":1}"
      - post: /base64
        name: "POST /base64"
        headers:
          Content-Type: text/plain
        body: "grüße"
      - get: /logo.svg
        name: "GET /logo.svg"
        headers:
          Referer: "http://HOST/a"
      - post: /login
        name: "POST /login"
        headers:
          content-type: application/x-www-form-urlencoded
        body: "user=me&password=hush"
      - get: /last
        name: "GET /last"
    load: { rate: 1/s, warmup: 0s, duration: 30s }   # iterations per second: a first look
    "#);
    insta::assert_snapshot!(in_short(&seen), @r#"
    GET /caf%C3%A9?q=a|b%20c ""
    POST /chrome "------WebKitFormBoundaryAbC\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1 $x\r\n------WebKitFormBoundaryAbC--\r\n"
    POST /firefox "-----------------------------4242\r\nContent-Disposition: form-data; name=\"b\"\r\n\r\n2\r\n-----------------------------4242--\r\n"
    POST /params "--plimsoll-part-6f1d2c9ab4e84d07\r\nContent-Disposition: form-data; name=\"tag\"\r\n\r\nx\r\n--plimsoll-part-6f1d2c9ab4e84d07\r\nContent-Disposition: form-data; name=\"tag\"\r\n\r\ny\r\n--plimsoll-part-6f1d2c9ab4e84d07\r\nContent-Disposition: form-data; name=\"file\"; filename=\"note.txt\"\r\nContent-Type: text/plain\r\n\r\ncontent\r\n--plimsoll-part-6f1d2c9ab4e84d07--\r\n"
    PUT /safari "{\"a\":1}"
    POST /base64 "grüße"
    GET /logo.svg ""
    POST /login "user=me&password=hush"
    GET /last ""
    "#);
}

#[test]
fn a_description_in_unusual_words_becomes_requests() {
    let (text, seen) = imported_and_run("openapi", "odd.json", &[]);
    insta::assert_snapshot!(text, @r#"
    note: GET /tree/{node}.json: made up, for want of an example: `node`
    note: POST /tree/{node}.json: made up, for want of an example: parts of the body
    note: POST /tree/{node}.json: left out, being optional and without an example: properties of the body
    note: POST /upload: has a server of its own, https://upload.example; here it goes to http://HOST
    note: POST /upload: made up, for want of an example: parts of the body
    note: set BASIC to base64 of user:password that `basic` asks for, before validating or running
    note: set COOKIE to the key that `cookie` asks for, before validating or running
    note: GET /search: made up, for want of an example: `seen`
    note: PUT /search: made up, for want of an example: parts of the body
    note: GET /circle is left out: its references go in a circle
    ---
    # Imported from odd.json.
    version: 1
    name: Odd
    components:
      server: { external: "http://HOST" }
    scenario:
      - get: "/v%201/tree/5.json"
        name: "GET /tree/{node}.json"
        check: { status: [200, 304] }
      - post: "/v%201/tree/a%2Fb.json"
        name: "POST /tree/{node}.json"
        headers:
          Content-Type: application/json
        body: "{\"name\":\"text\",\"children\":[]}"
        check: { status: 201 }
      - post: "/v%201/upload"
        name: "POST /upload"
        multipart:
          title: { value: "Sunset $$1" }
          photo: { value: text, filename: photo, type: application/octet-stream }
          tags: [{ value: a }, { value: b }]
          about: { value: "{\"x\":7}", type: application/json }
        check: { status: 200 }
      - get: "/v%201/search?ids=1,2&json=%7B%22a%22%3A1%7D&filter%5Bcolor%5D=red&filter%5Bsize%5D=3"
        name: "GET /search"
        headers:
          X-List: "x,y"
          Authorization: "Basic ${env:BASIC}"
          Cookie: "seen=true; sid=${env:COOKIE}"
      - put: "/v%201/search?filter%5Bcolor%5D=red&filter%5Bsize%5D=3"
        name: "PUT /search"
        headers:
          Content-Type: "application/vnd.loop+json"
        body: "{\"next\":{\"next\":{\"next\":{\"next\":null}}}}"
    load: { rate: 1/s, warmup: 0s, duration: 30s }   # iterations per second: a first look
    "#);
    insta::assert_snapshot!(in_short(&seen), @r#"
    GET /v%201/tree/5.json ""
    POST /v%201/tree/a%2Fb.json "{\"name\":\"text\",\"children\":[]}"
    POST /v%201/upload "--plimsoll-part-6f1d2c9ab4e84d07\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nSunset $1\r\n--plimsoll-part-6f1d2c9ab4e84d07\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"photo\"\r\nContent-Type: application/octet-stream\r\n\r\ntext\r\n--plimsoll-part-6f1d2c9ab4e84d07\r\nContent-Disposition: form-data; name=\"tags\"\r\n\r\na\r\n--plimsoll-part-6f1d2c9ab4e84d07\r\nContent-Disposition: form-data; name=\"tags\"\r\n\r\nb\r\n--plimsoll-part-6f1d2c9ab4e84d07\r\nContent-Disposition: form-data; name=\"about\"\r\nContent-Type: application/json\r\n\r\n{\"x\":7}\r\n--plimsoll-part-6f1d2c9ab4e84d07--\r\n"
    GET /v%201/search?ids=1,2&json=%7B%22a%22%3A1%7D&filter%5Bcolor%5D=red&filter%5Bsize%5D=3 ""
    PUT /v%201/search?filter%5Bcolor%5D=red&filter%5Bsize%5D=3 "{\"next\":{\"next\":{\"next\":{\"next\":null}}}}"
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
      1 of 2 entries are left out as no HTTP requests: `data:`
      1 of 2 entries are left out as no HTTP requests: `ws:`
    error: har-of-several-hosts.har: has requests to several servers, and a scenario has one: choose with --only-host: http://cdn.example (1), http://shop.example:8080 (2)
    error: har-that-is-json.har: is not a HAR: missing field `log` at line 1 column 15
    error: har-that-is-no-json.har: is not a HAR: expected value at line 1 column 1
    error: har-without-entries.har: has no entries: nothing was recorded
    error: openapi-of-a-later-version.yaml: is OpenAPI 3.2.0: 3.0 and 3.1 are understood
    error: openapi-of-a-relative-server.yaml: its server is `/api`, on whatever host serves the description: say where with --server http://host:port/api
    error: openapi-of-nothing-to-send.yaml: has no operation that can be carried over
      POST /a is left out: its body is image/png: JSON, forms and text are understood
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

/// A description of one operation whose schemas hold each other, level by level and so many times each, without a circle.
fn nested(levels: usize, times: usize, how: &str) -> String {
    let schema = |level: usize| {
        let below = json!({ "$ref": format!("#/components/schemas/S{}", level + 1) });
        let schema = match how {
            "allOf" => json!({ "allOf": vec![below; times] }),
            _ => {
                let names = (0..times).map(|number| format!("p{number}"));
                let fields: Map<String, Value> = names.map(|name| (name, below.clone())).collect();
                let names: Vec<&String> = fields.keys().collect();
                json!({ "type": "object", "required": names, "properties": fields })
            }
        };
        (format!("S{level}"), schema)
    };
    let mut schemas: Map<String, Value> = (0..levels).map(schema).collect();
    let last = json!({ "type": "object", "example": { "text": "x".repeat(1000) } });
    schemas.insert(format!("S{levels}"), last);
    let body = json!({ "content": { "application/json": { "schema": { "$ref": "#/components/schemas/S0" } } } });
    json!({
        "openapi": "3.0.0",
        "servers": [{ "url": "http://localhost:1" }],
        "paths": { "/a": { "get": {} }, "/b": { "post": { "requestBody": body } } },
        "components": { "schemas": schemas },
    })
    .to_string()
}

#[test]
fn schemas_that_stand_for_too_many_are_refused_by_the_operation() {
    let workspace = Workspace::new();
    for how in ["allOf", "properties"] {
        workspace.write("nested.json", &nested(7, 12, how));
        // As much memory as the program needs for anything, and little more.
        let args = ["import", "openapi", "nested.json"];
        let refused = workspace.run_within("60000", &args).ended_with(2);
        let place = "nested.json: POST /b: the schemas hold each other so often that they stand for more than ";
        refused.saying(place).saying("--exclude");
        let without = ["--exclude", "POST /b"];
        workspace.run(&[&args[..], &without].concat()).ended_with(0);
        workspace.write("nested.json", &nested(3, 12, how));
        workspace.run(&args).ended_with(0);
    }
}

#[test]
fn notes_beyond_many_are_counted() {
    let workspace = Workspace::new();
    let entry = json!({ "request": { "method": "BREW", "url": "http://localhost:1/" } });
    let other = json!({ "request": { "method": "GET", "url": "http://localhost:1/" } });
    let mut entries = vec![entry; 1000];
    entries.push(other);
    let archive = json!({ "log": { "entries": entries } });
    workspace.write("many.har", &archive.to_string());
    let finished = workspace.run(&["import", "har", "many.har"]).ended_with(0);
    assert_eq!(finished.stderr.lines().count(), 201);
    finished.saying("note: 800 further notes are not shown");
}
