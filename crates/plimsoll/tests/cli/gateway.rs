//! `plimsoll gateway` as a process, in front of our mock.

use crate::program::{Server, Workspace, exchange, get, signal};
use plimsoll_base::counters::{Counter, Totals};
use plimsoll_testbed::authority::Authority;
use serde_json::Value;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};

fn config(upstream: &str, more: &str) -> String {
    format!(
        "version: 1\nlisteners:\n  main: {{ address: \"127.0.0.1:0\" }}\nadmin: {{ address: \"127.0.0.1:0\" }}\n\
         upstreams:\n  mock: {{ endpoints: [\"http://{upstream}\"] }}\n{more}"
    )
}

#[test]
fn keys_limits_and_analytics() {
    let workspace = Workspace::new();
    let mock = Server::start(&workspace, &["mock", "--port", "0"]);
    let routes = "routes:\n  - path: /\n    upstream: mock\n    policies:\n      key: { keys: [{ name: test, key: open-sesame }] }\n      \
                  rate_limit: { rate: 1/min, burst: 2, per: key }\nanalytics: { file: analytics.jsonl }\n";
    workspace.write("gateway.yaml", &config(&mock.main().to_string(), routes));
    let gateway = Server::start(
        &workspace,
        &["gateway", "--config", "gateway.yaml", "--shards", "2"],
    );
    let status = |key: &str| {
        let addr = gateway.main();
        let request =
            format!("GET /json/valid HTTP/1.1\r\nHost: {addr}\r\n{key}Connection: close\r\n\r\n");
        exchange(addr, &request)
            .split(' ')
            .nth(1)
            .unwrap()
            .to_owned()
    };
    assert_eq!(status(""), "401");
    assert_eq!(status("Authorization: wrong\r\n"), "403");
    let admitted = ["200", "200", "429"];
    assert_eq!(
        admitted.map(|_| status("Authorization: open-sesame\r\n")),
        admitted
    );
    let metrics = get(gateway.listening["admin"], "/metrics");
    assert!(metrics.contains("plimsoll_gateway"), "{metrics}");
    assert_eq!(gateway.stop(), Some(0));
    let records = workspace.read("analytics.jsonl");
    assert_eq!(records.lines().count(), 5, "{records}");
    assert!(!records.contains("open-sesame"));
}

#[test]
fn paths_that_leave_their_route_are_refused() {
    let workspace = Workspace::new();
    let mock = Server::start(&workspace, &["mock", "--port", "0"]);
    workspace.write(
        "gateway.yaml",
        &config(
            &mock.main().to_string(),
            "routes: [{ path: /json, upstream: mock }]\n",
        ),
    );
    let gateway = Server::start(&workspace, &["gateway", "--config", "gateway.yaml"]);
    let status = |path: &str| {
        get(gateway.main(), path)
            .split(' ')
            .nth(1)
            .unwrap()
            .to_owned()
    };
    assert_eq!(status("/json/valid"), "200");
    assert_eq!(status("/jsonx"), "404");
    assert_eq!(status("/json/../xml"), "400");
    assert_eq!(status("/json/%2e%2e/xml"), "400");
    assert_eq!(status("/json%2fvalid"), "400");
}

#[test]
fn counters_survive_a_kill() {
    let workspace = Workspace::new();
    let mock = Server::start(&workspace, &["mock", "--port", "0"]);
    let routes = "routes: [{ path: /, upstream: mock }]\n";
    workspace.write("gateway.yaml", &config(&mock.main().to_string(), routes));
    let arguments = [
        "gateway",
        "--config",
        "gateway.yaml",
        "--counters",
        "counters",
    ];
    let mut gateway = Server::start(&workspace, &arguments);
    for _ in 0..9 {
        get(gateway.main(), "/json/valid");
    }
    gateway.kill();
    let totals = Totals::read(&std::fs::read(workspace.path().join("counters")).unwrap()).unwrap();
    assert_eq!(
        (totals.get(Counter::Received), totals.get(Counter::Served)),
        (9, 9)
    );
}

#[test]
fn a_hangup_has_the_file_read_anew() {
    let workspace = Workspace::new();
    let mock = Server::start(&workspace, &["mock", "--port", "0"]);
    let write = |path: &str| {
        let route = format!("routes: [{{ path: {path}, upstream: mock }}]\n");
        workspace.write("gateway.yaml", &config(&mock.main().to_string(), &route));
    };
    write("/other");
    let gateway = Server::start(&workspace, &["gateway", "--config", "gateway.yaml"]);
    let status = || {
        let answer = get(gateway.main(), "/json/valid");
        answer.split(' ').nth(1).map(str::to_owned)
    };
    assert_eq!(status().as_deref(), Some("404"));
    write("/json");
    signal(gateway.pid(), "HUP");
    let loaded = (0..10_000).any(|_| {
        get(gateway.listening["admin"], "/metrics").contains("plimsoll_gateway_generation 2")
    });
    assert!(loaded);
    assert_eq!(status().as_deref(), Some("200"));
    write("not-a-path");
    let refused = exchange(
        gateway.listening["admin"],
        "POST /reload HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    );
    assert!(refused.contains("422 "), "{refused}");
    assert!(refused.contains("gateway.yaml:"), "{refused}");
    assert_eq!(status().as_deref(), Some("200"));
    assert_eq!(gateway.stop(), Some(0));
}

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

#[test]
fn what_gateway_yaml_can_say_itself_is_no_flag_beside_it() {
    let workspace = Workspace::new();
    workspace.write("gateway.yaml", &config("127.0.0.1:1", "routes: []\n"));
    let check = |flags: &str, told: &str| {
        let args = format!("gateway --config gateway.yaml {flags}");
        let refused = workspace.run(&args.split(' ').collect::<Vec<_>>());
        refused.ended_with(2).saying(told);
    };
    check(
        "--limit connections_per_address=8",
        "--limit: this goes with `--tyk` alone: in `gateway.yaml` write `limits: { connections_per_address: 8 }`",
    );
    check(
        "--limit max_pending=8 --limit idle=1s",
        "write `max_pending: 8` at each upstream",
    );
    check("--limit idle=1s", "write `timeouts: { idle: 1s }`");
    check("--redact iban", "write `analytics: { redact: [iban] }`");
    check("--limit drain=1s", "`drain` is no limit");
}

#[test]
fn a_reload_for_which_descriptors_are_too_few_changes_nothing() {
    let workspace = Workspace::new();
    let rest = "routes: [{ path: /, upstream: mock }]\n";
    let text = config("127.0.0.1:9", rest);
    workspace.write("gateway.yaml", &text);
    let args = ["gateway", "--config", "gateway.yaml", "--shards", "2"];
    let gateway = Server::start_with_descriptors(&workspace, 128, &args);
    let admin = gateway.listening["admin"];
    let request = format!("POST /reload HTTP/1.1\r\nHost: {admin}\r\nConnection: close\r\n\r\n");
    // There are enough for each listener once, and not for each listener at each shard.
    let more: String = (0..50)
        .map(|number| format!("  more{number}: {{ address: \"127.0.0.1:0\" }}\n"))
        .collect();
    let many = text.replace("admin:", &format!("{more}admin:"));
    workspace.write("gateway.yaml", &many);
    let answer = exchange(admin, &request);
    assert!(answer.starts_with("HTTP/1.1 422"), "{answer}");
    assert!(answer.contains("Too many open files"), "{answer}");
    workspace.write("gateway.yaml", &text);
    let answer = exchange(admin, &request);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("\"generation\":2"), "{answer}");
    assert_eq!(gateway.stop(), Some(0));
}

/// A client's data moves from one mock to another: under load both get every request, with its body, and the answers come from the first.
#[test]
fn both_shards_get_what_a_client_asks_whose_data_is_mirrored() {
    const REQUESTS: usize = 200;
    let workspace = Workspace::new();
    let authority = Authority::new().unwrap();
    let issued = authority.issue(&["localhost", "127.0.0.1"]).unwrap();
    workspace.write("ca.pem", authority.certificate());
    workspace.write("own.pem", &issued.certificate);
    workspace.write("own.key", &issued.key);
    let [old, new] = [(); 2].map(|()| Server::that_remembers(&workspace));
    workspace.write(
        "shards.yaml",
        "version: 1\nmap_version: 1\nshards: { old: { upstream: old }, new: { upstream: new } }\n\
         exact: [{ dns: localhost, shard: old, moving: { to: new, phase: mirroring } }]\n",
    );
    let text = format!(
        "version: 1\nlisteners:\n  main:\n    address: \"127.0.0.1:0\"\n    \
         tls: {{ certificate: own.pem, key: own.key, clients: required, ca: ca.pem }}\nadmin: {{ address: \"127.0.0.1:0\" }}\n\
         identity: {{ order: [dns] }}\nshard_map: {{ file: shards.yaml, mirror: {{ queue: 1000 }} }}\nhttp2: {{}}\n\
         upstreams:\n  old: {{ endpoints: [\"http://{}\"] }}\n  new: {{ endpoints: [\"http://{}\"] }}\nroutes: [{{ path: /, sharded: true }}]\n",
        old.main(),
        new.main()
    );
    workspace.write("gateway.yaml", &text);
    let gateway = Server::start(
        &workspace,
        &["gateway", "--config", "gateway.yaml", "--shards", "2"],
    );
    let url = format!("https://{}/orders", gateway.main());
    let half = (REQUESTS / 2).to_string();
    let tls = [
        "--cacert", "ca.pem", "--cert", "own.pem", "--key", "own.key", "--no-ui",
    ];
    let load = [
        "load", &url, "-n", &half, "-c", "4", "-m", "POST", "-b", "a body",
    ];
    for (protocol, out) in [(&[][..], "one"), (&["--http2"][..], "two")] {
        let finished = workspace.run(&[&load[..], &tls, protocol, &["--out", out]].concat());
        assert!(matches!(finished.code, Some(0 | 4 | 6)), "{finished:?}");
        let arm = &workspace.json(&format!("{out}/summary.json"))["arms"]["main"];
        assert_eq!(arm["outcomes"]["answered"]["200"], REQUESTS / 2, "{arm}");
    }
    let copied =
        format!("mirrored_requests_total{{upstream=\"new\",result=\"same\"}} {REQUESTS}\n");
    let page = || get(gateway.listening["admin"], "/metrics");
    assert!((0..10_000).any(|_| page().contains(&copied)), "{}", page());
    for (mock, copy) in [(&old, false), (&new, true)] {
        let requests = mock.requests();
        assert_eq!(requests.len(), REQUESTS);
        for request in requests {
            assert_eq!(
                (&request["url"], &request["body"]),
                (&"/orders".into(), &"a body".into())
            );
            let owner = &request["headers"]["X-Shard-Mirror"];
            assert_eq!(
                owner,
                &if copy { "old".into() } else { Value::Null },
                "{request}"
            );
        }
    }
    assert_eq!(gateway.stop(), Some(0));
}

#[test]
fn records_survive_a_gateway_that_is_killed() {
    let workspace = Workspace::new();
    let mock = Server::that_remembers(&workspace);
    let start = |collector: &str| {
        let rest = format!(
            "routes: [{{ path: /, upstream: mock }}]\nanalytics: {{ otlp: {{ endpoint: \"http://{collector}\" }}, spool: {{ directory: spool }} }}\n"
        );
        workspace.write("gateway.yaml", &config(&mock.main().to_string(), &rest));
        Server::start(&workspace, &["gateway", "--config", "gateway.yaml"])
    };
    let mut gateway = start("127.0.0.1:9");
    let request = format!(
        "GET /kept HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        gateway.main()
    );
    for _ in 0..50 {
        assert!(exchange(gateway.main(), &request).starts_with("HTTP/1.1 200"));
    }
    let on_disk = || {
        let files = std::fs::read_dir(workspace.path().join("spool/otlp")).unwrap();
        let read = |file: std::io::Result<std::fs::DirEntry>| {
            let content = std::fs::read(file.unwrap().path()).unwrap();
            content.windows(5).filter(|text| text == b"/kept").count()
        };
        files.map(read).sum::<usize>()
    };
    assert!((0..200_000).any(|_| on_disk() == 50));
    gateway.kill();
    let gateway = start(&mock.main().to_string());
    let arrived = || {
        let requests = mock.requests();
        let logs = requests
            .iter()
            .filter(|request| request["url"] == "/v1/logs");
        logs.map(|request| {
            request["body"]
                .as_str()
                .unwrap()
                .matches("log.record.uid")
                .count()
        })
        .sum::<usize>()
    };
    assert!((0..20_000).any(|_| arrived() >= 50));
    assert_eq!(gateway.stop(), Some(0));
    assert_eq!(arrived(), 50);
}
