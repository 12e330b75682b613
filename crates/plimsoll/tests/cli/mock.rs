//! `plimsoll mock` as a process: WireMock's flags, counters that survive it.

use crate::program::{Server, Workspace, exchange, get};
use plimsoll_base::counters::{Counter, Totals};

#[test]
fn stubs_of_the_current_directory_and_over_the_admin_api() {
    let workspace = Workspace::new();
    workspace.write(
        "stubs/mappings/one.json",
        r#"{"request":{"method":"GET","url":"/one"},"response":{"status":201,"body":"first"}}"#,
    );
    let line = "mock --port 0 --bind-address localhost --root-dir stubs --builtins on";
    let mock = Server::start(&workspace, &line.split(' ').collect::<Vec<_>>());
    assert!(
        get(mock.main(), "/one").starts_with("HTTP/1.1 201 "),
        "{}",
        get(mock.main(), "/one")
    );

    // The stub that the first field report posts with curl.
    let stub = r#"{"request":{"url":"/mock/example","method":"ANY"},"response":{"status":200,"body":"Response body"}}"#;
    let length = stub.len();
    let request = format!(
        "POST /__admin/mappings HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{stub}"
    );
    assert!(exchange(mock.main(), &request).starts_with("HTTP/1.1 201 "));
    assert!(get(mock.main(), "/mock/example").ends_with("Response body"));
    assert!(
        get(mock.main(), "/json/valid").starts_with("HTTP/1.1 200 "),
        "built-in endpoints stay if asked for"
    );
    assert_eq!(mock.stop(), Some(0));
}

#[test]
fn what_is_sent_on_is_recorded_by_flags() {
    let workspace = Workspace::new();
    workspace.write("stubs/mappings/none.json", r#"{"mappings": []}"#);
    let behind = Server::start(&workspace, &["mock", "--port", "0"]);
    let url = format!("http://{}", behind.main());
    let line = [
        "mock",
        "--port",
        "0",
        "--root-dir",
        "stubs",
        "--max-request-journal-entries",
        "100",
        "--proxy-all",
        &url,
        "--allow-proxy-targets",
        "127.0.0.1,example.com",
        "--proxy-timeout",
        "20000",
        "--record-mappings",
        "--record-latency",
        "times.hlog",
    ];
    let mock = Server::start(&workspace, &line);
    assert!(get(mock.main(), "/resource/7").starts_with("HTTP/1.1 200 "));
    assert_eq!(mock.stop(), Some(0));
    assert_eq!(behind.stop(), Some(0));
    let mappings = std::fs::read_dir(workspace.path().join("stubs/mappings")).unwrap();
    let texts = mappings.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    assert_eq!(
        texts
            .filter(|text| text.contains("\"/resource/7\""))
            .count(),
        1
    );
    let log = std::fs::read_to_string(workspace.path().join("times.hlog")).unwrap();
    assert_eq!(log.lines().count(), 4, "{log}");

    let refused = workspace.run(&["mock", "--port", "0", "--proxy-all", &url]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("--allow-proxy-targets 127.0.0.1"),
        "{}",
        refused.stderr
    );
}

#[test]
fn counters_survive_a_kill() {
    let workspace = Workspace::new();
    let mut mock = Server::start(
        &workspace,
        &[
            "mock",
            "--port",
            "0",
            "--shards",
            "2",
            "--counters",
            "counters",
        ],
    );
    for _ in 0..17 {
        get(mock.main(), "/json/valid");
    }
    mock.kill();
    let totals = Totals::read(&std::fs::read(workspace.path().join("counters")).unwrap()).unwrap();
    assert_eq!(
        (totals.get(Counter::Received), totals.get(Counter::Served)),
        (17, 17)
    );
}

#[test]
fn off_loopback_the_admin_api_wants_a_decision() {
    let workspace = Workspace::new();
    workspace
        .run(&["mock", "--port", "0", "--bind-address", "0.0.0.0"])
        .ended_with(2)
        .saying("admin API");
}

#[test]
fn wiremocks_flags_are_accepted_or_refused_by_name() {
    let workspace = Workspace::new();
    let line = [
        "mock",
        "--https-keystore",
        "a.jks",
        "--extensions",
        "com.example.X",
    ];
    let refused = workspace.run(&line);
    assert_eq!(refused.code, Some(2));
    let message = refused.stderr;
    assert!(
        message.contains("--extensions is not available in this version"),
        "{message}"
    );
    assert!(
        message.contains("--https-keystore has another name here: write `--https-cert FILE"),
        "{message}"
    );

    let line = [
        "mock",
        "--port",
        "0",
        "--async-response-enabled",
        "true",
        "--container-threads",
        "50",
        "--disable-banner",
        "--global-response-templating",
        "--max-request-journal-entries",
        "10",
    ];
    let mock = Server::start(&workspace, &line);
    assert!(get(mock.main(), "/json/valid").starts_with("HTTP/1.1 200 "));
    assert_eq!(mock.stop(), Some(0));
}
