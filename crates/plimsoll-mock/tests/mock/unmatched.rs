//! Answers to unmatched requests, and how many of them are tables.

use crate::world::{Mock, config};

const LINE: &str = "Request was not matched";
const STUB: &str = r#"{"request": {"url": "/there", "method": "GET"}}"#;

fn mock(differences_per_second: u32) -> Mock {
    let mut config = config();
    config.differences_per_second = differences_per_second;
    Mock::start(config)
}

#[test]
fn so_many_get_a_table_and_the_others_a_line() {
    let mock = mock(1);
    let mut client = mock.client();
    client.send("POST", "/__admin/mappings", STUB);
    let table = client.get("/their").text();
    assert!(
        table.contains("/there ") && table.contains("<<<<< URL does not match"),
        "{table}"
    );
    let lines = (0..20).filter(|_| client.get("/their").text() == LINE);
    assert!(lines.count() > 0);
}

#[test]
fn none_get_a_table_where_none_is_wanted_or_stubs_are_many() {
    let without = mock(0);
    let mut client = without.client();
    client.send("POST", "/__admin/mappings", STUB);
    assert_eq!(client.get("/their").text(), LINE);

    let many = mock(1_000_000);
    let mut client = many.client();
    let stubs: Vec<String> = (0..1_001)
        .map(|number| format!(r#"{{"request": {{"url": "/{number}"}}}}"#))
        .collect();
    let import = format!(r#"{{"mappings": [{}]}}"#, stubs.join(","));
    assert_eq!(
        client
            .send("POST", "/__admin/mappings/import", &import)
            .status,
        200
    );
    assert_eq!(client.get("/their").text(), LINE);
    client.send("DELETE", "/__admin/mappings", "");
    assert!(
        client
            .get("/their")
            .text()
            .starts_with("No response could be served")
    );
}

#[test]
fn a_strange_width_is_that_of_none() {
    let mock = mock(1_000_000);
    let mut client = mock.client();
    client.send("POST", "/__admin/mappings", STUB);
    for (asked, width) in [
        ("69", 69),
        ("119", 119),
        ("1", 119),
        ("999999999999", 119),
        ("x", 119),
    ] {
        client.write(&format!(
            "GET /their HTTP/1.1\r\nHost: x\r\nX-WireMock-Console-Width: {asked}\r\n\r\n"
        ));
        let table = client.read("GET").text().to_owned();
        let rule = table
            .lines()
            .find(|line| line.starts_with("---"))
            .unwrap()
            .len();
        assert_eq!(rule, width, "{asked}");
    }
}
