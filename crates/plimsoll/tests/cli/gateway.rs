//! `plimsoll gateway` as a process, in front of our mock.

mod tyks_files;

use crate::program::{Server, Workspace, exchange, get, signal};
use plimsoll_base::counters::{Counter, Totals};
use plimsoll_testbed::authority::Authority;
use serde_json::Value;

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
