//! `plimsoll gateway` with Tyk's own files in place of `gateway.yaml`.

use crate::program::{Server, Workspace, exchange, get};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};

/// Tyk's files, with one open API and one that demands a key.
fn tyk_files(workspace: &Workspace, upstream: &str) {
    let conf = serde_json::json!({
        "listen_port": 0, "secret": "of-the-operator", "app_path": "apps", "hash_keys": true, "log_level": "info",
        "storage": { "type": "redis", "host": "127.0.0.1", "port": 1 },
    });
    workspace.write("tyk.conf", &conf.to_string());
    for (id, keyless) in [("open", true), ("keyed", false)] {
        let api = serde_json::json!({
            "name": id, "api_id": id, "org_id": "default", "use_keyless": keyless, "active": true,
            "version_data": { "not_versioned": true, "versions": { "Default": { "name": "Default", "use_extended_paths": true } } },
            "proxy": { "listen_path": format!("/{id}/"), "target_url": format!("http://{upstream}/"), "strip_listen_path": true },
        });
        workspace.write(&format!("apps/{id}.json"), &api.to_string());
    }
}

#[test]
fn tyks_files_are_judged_one_by_one_and_variables_that_are_not_read_are_refused() {
    let workspace = Workspace::new();
    tyk_files(&workspace, "127.0.0.1:9");
    let valid = |name: &str| workspace.run(&["validate", name]);
    valid("tyk.conf").ended_with(0);
    valid("apps/open.json").ended_with(0);
    workspace.write(
        "policies.json",
        r#"{ "gold": { "rate": 1, "per": 1, "access_rights": {} } }"#,
    );
    let judged = valid("policies.json").ended_with(0);
    assert!(
        judged.stdout.contains("valid policies of Tyk's"),
        "{}",
        judged.stdout
    );
    workspace.write(
        "policies.json",
        r#"{ "gold": { "rate": 1, "access_rights": {} } }"#,
    );
    valid("policies.json")
        .ended_with(2)
        .saying("a rate needs `per`");
    workspace.write(
        "oas.json",
        r#"{ "openapi": "3.0.3", "x-tyk-api-gateway": {} }"#,
    );
    valid("oas.json")
        .ended_with(2)
        .saying("only classic API definitions are read");
    let mut gateway = workspace.command(&["gateway", "--tyk", "tyk.conf"]);
    let refused = gateway.env("TYK_GW_SECRET", "hidden").output().unwrap();
    let told = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{told}");
    assert!(
        told.contains("TYK_GW_SECRET: Tyk reads this variable after the file"),
        "{told}"
    );
    assert!(!told.contains("hidden"), "{told}");
}

#[test]
fn tyks_files_are_served_and_keys_made() {
    let workspace = Workspace::new();
    let mock = Server::start(&workspace, &["mock", "--port", "0"]);
    tyk_files(&workspace, &mock.main().to_string());
    let gateway = Server::start(
        &workspace,
        &["gateway", "--tyk", "tyk.conf", "--shards", "2"],
    );
    let ask = |request: String| exchange(gateway.main(), &request);
    let keyed = |key: &str| {
        let answer = ask(format!(
            "GET /keyed/json/valid HTTP/1.1\r\nHost: a\r\nAuthorization: {key}\r\nConnection: close\r\n\r\n"
        ));
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    assert!(get(gateway.main(), "/open/json/valid").starts_with("HTTP/1.1 200 "));
    assert_eq!(keyed("not-yet"), "403");
    let session =
        r#"{ "rate": 2, "per": 3600, "access_rights": { "keyed": { "api_id": "keyed" } } }"#;
    let made = ask(format!(
        "POST /tyk/keys/not-yet HTTP/1.1\r\nHost: a\r\nX-Tyk-Authorization: of-the-operator\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{session}",
        session.len()
    ));
    assert!(
        made.contains(r#"{"key":"not-yet","status":"ok","action":"added","key_hash":""#),
        "{made}"
    );
    assert_eq!(
        ["200", "200", "429"].map(|_| keyed("not-yet")),
        ["200", "200", "429"]
    );
    assert_eq!(gateway.stop(), Some(0));
}

#[test]
fn tyks_files_have_metrics_and_an_access_log_if_asked() {
    let workspace = Workspace::new();
    let mock = Server::start(&workspace, &["mock", "--port", "0"]);
    tyk_files(&workspace, &mock.main().to_string());
    let everywhere = ["gateway", "--tyk", "tyk.conf", "--admin", "0.0.0.0:0"];
    let refused = workspace.run(&everywhere).ended_with(2);
    refused.saying("--admin: the admin listener binds loopback only");
    let args = "gateway --tyk tyk.conf --shards 2 --admin 127.0.0.1:0 --access-log requests.log --redact visitor";
    let args: Vec<&str> = args.split(' ').collect();
    let gateway = Server::start(&workspace, &args);
    assert!(get(gateway.main(), "/open/json/valid").starts_with("HTTP/1.1 200 "));
    get(
        gateway.main(),
        "/open/json;visitorId=hidden;sid=hidden/valid",
    );
    let admin = gateway.listening["admin"];
    // It is the same gateway after a reload, with the same listener.
    let reloaded = exchange(
        admin,
        "POST /reload HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    );
    assert!(reloaded.starts_with("HTTP/1.1 200 "), "{reloaded}");
    let metrics = get(admin, "/metrics");
    assert!(metrics.contains("plimsoll_gateway_"), "{metrics}");
    assert_eq!(gateway.stop(), Some(0));
    let log = workspace.read("requests.log");
    let lines: Vec<_> = log.lines().collect();
    assert_eq!(lines.len(), 2, "{log}");
    for path in ["/open/json/valid", "/open/json;visitorId=[redacted]/valid"] {
        let path = format!(r#""path":"{path}""#);
        // They may be of two shards.
        assert!(lines.iter().any(|line| line.contains(&path)), "{log}");
    }
}

/// An upstream that answers every GET, and of everything else waits for the body.
fn patient_upstream() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut read = Vec::new();
                let mut piece = [0; 4096];
                while let Ok(count @ 1..) = stream.read(&mut piece) {
                    read.extend_from_slice(&piece[..count]);
                    if read.starts_with(b"GET ") && read.ends_with(b"\r\n\r\n") {
                        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
                        stream.write_all(answer.as_bytes()).unwrap();
                        read.clear();
                    }
                }
            });
        }
    });
    address
}

/// A connection from another address than everybody's.
fn connect_from(source: &str, to: SocketAddr) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    let connected = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(format!("{source}:0").parse().unwrap()).unwrap();
        socket.connect(to).await.unwrap().into_std().unwrap()
    });
    connected.set_nonblocking(false).unwrap();
    let patience = std::time::Duration::from_secs(20);
    connected.set_read_timeout(Some(patience)).unwrap();
    connected
}

#[test]
fn uploads_of_one_address_leave_room_for_others_with_tyks_files() {
    const UPLOADS: usize = 40;
    let workspace = Workspace::new();
    tyk_files(&workspace, &patient_upstream().to_string());
    let limited = |limits: &str| {
        let args = format!("gateway --tyk tyk.conf --shards 1 --limit max_pending=16{limits}");
        Server::start(&workspace, &args.split(' ').collect::<Vec<_>>())
    };
    let uploads = |gateway: &Server| -> Vec<TcpStream> {
        let begun = (0..UPLOADS).map(|_| {
            let mut stream = connect_from("127.0.0.2", gateway.main());
            let head = "POST /open/x HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n";
            // It may be refused already.
            let _written = stream.write_all(head.as_bytes());
            stream
        });
        begun.collect()
    };
    let status = |gateway: &Server| get(gateway.main(), "/open/x")[9..12].to_owned();
    let gateway = limited("");
    let held = uploads(&gateway);
    let met = (0..10_000).any(|_| status(&gateway) == "503");
    assert!(met, "uploads take no places");
    drop(held);
    assert_eq!(gateway.stop(), Some(0));
    let gateway = limited(" --limit connections_per_address=8");
    let held = uploads(&gateway);
    for mut refused in &held[8..] {
        let mut answer = String::new();
        match refused.read_to_string(&mut answer) {
            Ok(_) => assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}"),
            // What it had sent was not read.
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
        }
    }
    assert_eq!(status(&gateway), "200");
    drop(held);
    assert_eq!(gateway.stop(), Some(0));
}
