//! A refused request's answer arrives, whatever else the peer has sent by then.

use crate::world::{Mock, config};

const PAGE: &str = "https://page.example";

#[test]
fn a_refusal_is_not_taken_along_by_a_reset() {
    let mock = Mock::start(config());
    let mut client = mock.client();
    client.write("GET / HTTP/1.1\r\nHost : a\r\n\r\n");
    // Far more than is read at once: closing now would reset.
    client.write(&"x".repeat(100_000));
    assert_eq!(client.read("GET").status, 400);
    client.expect_end();
}

#[test]
fn pages_of_an_origin_that_was_named_may_use_the_admin_api() {
    let mut settings = config();
    settings.admin_origins = vec![PAGE.to_owned()];
    let mock = Mock::start(settings);
    let mut client = mock.client();
    let mut check = |method: &str, fields: &str, status: u16, origin: Option<&str>| {
        client.write(&format!(
            "{method} /__admin/mappings HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n\r\n"
        ));
        let received = client.read(method);
        assert_eq!(received.status, status, "{fields}");
        let allowed = received.field("Access-Control-Allow-Origin");
        assert_eq!(allowed, origin, "{fields}");
        received
    };
    let page = format!("Origin: {PAGE}");
    check("GET", &page, 200, Some(PAGE));
    check("GET", "Origin: https://other.example", 403, None);
    check("GET", "Origin: http://localhost", 200, None);
    let wish =
        "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type";
    let asked = check("OPTIONS", &format!("{page}\r\n{wish}"), 200, Some(PAGE));
    let methods = asked.field("Access-Control-Allow-Methods");
    assert_eq!(methods, Some("OPTIONS,GET,POST,PUT,PATCH,DELETE"));
    let fields = asked.field("Access-Control-Allow-Headers");
    assert_eq!(fields, Some("content-type"));
    check("OPTIONS", wish, 404, None);
    let foreign = format!("Origin: null\r\n{wish}");
    check("OPTIONS", &foreign, 403, None);
}

#[test]
fn pages_may_read_what_stubs_answer_where_that_is_asked_for() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("__files")).unwrap();
    std::fs::write(root.path().join("__files/GET.txt"), "file").unwrap();
    let mut settings = config();
    settings.root_dir = Some(root.path().to_owned());
    settings.stub_cors = true;
    let mock = Mock::start(settings);
    let mut client = mock.client();
    for stub in [
        r#"{"request": {"url": "/plain"}, "response": {"body": "a"}}"#,
        r#"{"request": {"url": "/own"}, "response": {"headers": {"access-control-allow-origin": "b"}}}"#,
        r#"{"request": {"url": "/made"}, "response": {"body": "{{request.method}}", "transformers": ["response-template"]}}"#,
        r#"{"request": {"url": "/file"}, "response": {"bodyFileName": "{{request.method}}.txt", "transformers": ["response-template"]}}"#,
    ] {
        assert_eq!(client.send("POST", "/__admin/mappings", stub).status, 201);
    }
    let mut check = |line: &str, fields: &str, status: u16, origin: Option<&str>| {
        client.write(&format!(
            "{line} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n"
        ));
        let received = client.read("GET");
        let allowed = received.field("Access-Control-Allow-Origin");
        assert_eq!(
            (received.status, allowed),
            (status, origin),
            "{line} {fields}"
        );
    };
    let page = format!("Origin: {PAGE}\r\n");
    for path in ["/plain", "/own", "/made", "/file", "/GET.txt"] {
        check(&format!("GET {path}"), &page, 200, Some(PAGE));
    }
    check("GET /plain", "", 200, None);
    check("GET /none", &page, 404, Some(PAGE));
    let wish = "Access-Control-Request-Method: PUT\r\n";
    check("OPTIONS /none", &format!("{page}{wish}"), 200, Some(PAGE));
    check("OPTIONS /none", wish, 404, None);
}
