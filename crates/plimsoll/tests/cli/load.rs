//! `plimsoll load URL` against our mock.

use crate::program::{Server, Workspace};
use plimsoll_testbed::port::Refusing;
use serde_json::Value;
use std::path::Path;

#[test]
fn an_open_load_counts_what_the_mock_received() {
    let workspace = Workspace::new();
    let mock = Server::start(&workspace, &["mock", "--port", "0"]);
    let url = format!("http://{}/json/valid?a=$b", mock.main());
    let args = [
        "load",
        &url,
        "-r",
        "300",
        "-c",
        "4",
        "-z",
        "1s",
        "--warmup",
        "200ms",
        "-H",
        "X-Test: $1",
        "--out",
        "run",
        "--no-ui",
    ];
    let finished = workspace.run(&args);
    assert!(matches!(finished.code, Some(0 | 4)), "{finished:?}");
    let arm = &workspace.json("run/summary.json")["arms"]["main"];
    assert_eq!(arm["intended"], 300);
    assert_eq!(arm["outcomes"]["answered"]["200"], arm["sent"]);
}

#[test]
fn a_closed_load_is_labelled_as_such() {
    let workspace = Workspace::new();
    let mock = Server::start(&workspace, &["mock", "--port", "0"]);
    let url = format!("http://{}/delay/5ms", mock.main());
    let finished = workspace
        .run_until_valid(&[
            "load", &url, "-c", "2", "-z", "1s", "--warmup", "0", "--out", "run", "--no-ui",
        ])
        .ended_with(0);
    assert!(
        finished.stdout.contains("stalls are under-sampled"),
        "{}",
        finished.stdout
    );
    let arm = &workspace.json("run/summary.json")["arms"]["main"];
    // Two users, at least 5 ms each: at most 400 a second.
    let sent = arm["sent"].as_u64().unwrap();
    assert!((50..=402).contains(&sent), "{sent}");
}

#[test]
fn a_url_without_scheme_says_what_to_write() {
    Workspace::new()
        .run(&["load", "127.0.0.1:1/x"])
        .ended_with(2)
        .saying("http://127.0.0.1:1/x");
}

#[test]
fn a_target_that_cannot_be_reached_ends_the_run_before_it_begins() {
    let closed = Refusing::hold().unwrap();
    let url = format!("http://{}/", closed.address);
    Workspace::new()
        .run(&["load", &url, "-r", "50", "--no-ui"])
        .ended_with(5)
        .saying(&format!("{} is not reachable", closed.address));
}

#[test]
fn a_target_that_still_serves_the_warm_up_has_a_throughput() {
    let workspace = Workspace::new();
    // Five connections at half a second each carry ten a second; the warm-up alone brings more than that.
    workspace.write(
        "overload.yaml",
        "version: 1\nname: overload\ncomponents:\n  upstream: { mock: {} }\nscenario: [{ get: /delay/500ms }]\n\
         load: { rate: 100/s, connections: 5, warmup: 1s, duration: 2s, timeout: 1s }\n",
    );
    let finished = workspace
        .experiment_until_valid("overload.yaml", &[])
        .ended_with(6);
    assert!(
        finished
            .stdout
            .contains("still serving those of the warm-up"),
        "{}",
        finished.stdout
    );
    let achieved = workspace.json("run/summary.json")["arms"]["main"]["achieved_per_s"]
        .as_f64()
        .unwrap();
    assert!((5.0..=12.0).contains(&achieved), "{achieved}");
}

#[test]
fn a_run_in_which_everything_failed_has_not_passed() {
    let workspace = Workspace::new();
    let mock = Server::start(&workspace, &["mock", "--port", "0"]);
    let url = format!("http://{}/nowhere?token=hidden", mock.main());
    let finished = workspace
        .run_until_valid(&[
            "load", &url, "-r", "50", "-c", "2", "-z", "1s", "--warmup", "0", "--out", "run",
            "--no-ui",
        ])
        .ended_with(6);
    let sent = &workspace.json("run/summary.json")["arms"]["main"]["sent"];
    let expected = format!("every one of {sent} exchanges failed");
    assert!(finished.stdout.contains(&expected), "{}", finished.stdout);
    assert!(!workspace.read("run/summary.json").contains("hidden"));
}

#[test]
fn a_copied_command_is_what_is_sent() {
    let workspace = Workspace::new();
    workspace.write(
        "stubs/mappings/one.json",
        r#"{"request":{"method":"PUT","url":"/cart?id=7","headers":{"X-Token":{"equalTo":"$1 ${x}"},"Cookie":{"equalTo":"a=b"},
            "Content-Length":{"equalTo":"15"}}},"response":{"status":201}}"#,
    );
    let mock = Server::start(&workspace, &["mock", "--port", "0", "--root-dir", "stubs"]);
    let command = format!(
        r#"curl 'http://{}/cart?id=7#top' -X PUT \
  -H 'x-token: $1 ${{x}}' -b a=b --data-raw $'{{"note":"it\'s"}}' --compressed"#,
        mock.main()
    );
    let finished = workspace.run(&[
        "load",
        "--curl",
        &command,
        "-r",
        "50",
        "-c",
        "2",
        "-z",
        "1s",
        "--warmup",
        "0",
        "--threads",
        "2",
        "--out",
        "run",
        "--no-ui",
    ]);
    assert!(matches!(finished.code, Some(0 | 4)), "{finished:?}");
    let arm = &workspace.json("run/summary.json")["arms"]["main"];
    assert_eq!(arm["intended"], 50);
    assert_eq!(arm["outcomes"]["answered"]["201"], arm["sent"]);
}

#[test]
fn a_body_may_come_from_a_file_and_headers_are_combined() {
    let workspace = Workspace::new();
    workspace.write("body.txt", "a$b\n");
    workspace.write(
        "stubs/mappings/one.json",
        r#"{"request":{"method":"POST","url":"/","headers":{"X-A":{"equalTo":"1, 2"},"Content-Length":{"equalTo":"4"}}},"response":{"status":202}}"#,
    );
    let mock = Server::start(&workspace, &["mock", "--port", "0", "--root-dir", "stubs"]);
    let url = format!("http://{}", mock.main());
    let finished = workspace.run(&[
        "load",
        &url,
        "-m",
        "POST",
        "-b",
        "@body.txt",
        "-H",
        "X-A: 1",
        "-H",
        "x-a: 2",
        "-r",
        "50",
        "-z",
        "1s",
        "--warmup",
        "0",
        "--out",
        "run",
        "--no-ui",
    ]);
    assert!(matches!(finished.code, Some(0 | 4)), "{finished:?}");
    let arm = &workspace.json("run/summary.json")["arms"]["main"];
    assert_eq!(arm["intended"], 50);
    assert_eq!(arm["outcomes"]["answered"]["202"], arm["sent"]);
}

#[test]
fn what_cannot_be_sent_is_said_before_anything_is() {
    let workspace = Workspace::new();
    let check = |args: &[&str], message: &str| {
        workspace
            .run(&[&["load"], args].concat())
            .ended_with(2)
            .saying(message);
    };
    check(
        &["--curl", "curl -T a http://a/"],
        "--curl: curl's `-T` has no equivalent here",
    );
    check(&["--curl", "curl 'http://a/"], "--curl: a ' is not closed");
    check(&["http://a/", "-b", "@missing"], "missing");
    check(
        &["http://a/", "-H", "nonsense"],
        "-H `nonsense`: write `Name: value`",
    );
    check(&["http://a/", "-m", "BREW"], "-m BREW");
    check(&[], "<URL>");
}

#[test]
fn what_is_wrong_with_a_flag_names_the_flag() {
    let workspace = Workspace::new();
    let mut messages = String::new();
    for args in [
        &["http://a/", "-c", "0"][..],
        &["http://a/", "-c", "0", "-r", "5"],
        &["http://a/", "-c", "auto"],
        &["http://a/", "-c", "auto", "-r", "0"],
        &["http://a/", "-r", "0"],
        &["http://a/", "-r", "often"],
        &["http://a/", "-r", "99000000"],
        &["http://a/", "-n", "0"],
        &["http://a/", "-z", "0s"],
        &["http://a/", "-z", "5"],
        &["http://a/", "-z", "2000h"],
        &["http://a/", "--warmup", "soon"],
        &["http://a/", "--timeout", "0"],
        &["http://a/", "--threads", "0"],
        &["http://a/", "--http2", "--streams", "0"],
        &["https://a/", "--cacert", "missing.pem"],
        &["http://a/", "-k"],
        &["http://a/", "-b", "@missing"],
        &["http://a/", "-H", "Content-Length: 5"],
        &["http://a/", "-H", "a b: c"],
        &["http://a/", "-H", "Host: a", "-H", "host: b"],
        &[
            "http://a/",
            "-H",
            "Content-Type: a/b",
            "-H",
            "Content-Type: c/d",
        ],
        &["http://a/b c"],
        &["http://a:/"],
        &["ftp://a/"],
        &["http://"],
    ] {
        let finished = workspace.run(&[&["load"], args].concat()).ended_with(2);
        messages += &format!("{}: {}", args[1..].join(" "), finished.stderr);
    }
    insta::assert_snapshot!(messages, @r#"
    -c 0: error: -c: has no user at all: write 1 to 1000000
    -c 0 -r 5: error: -c: must be 1 to 1000000
    -c auto: error: -c: `auto` is for arrivals: without --rate each connection is a user, so write how many
    -c auto -r 0: error: -r 0: write arrivals per second such as `500`, or `90/min` or `10/h`, more than 0; without -r the model is closed
    -r 0: error: -r 0: write arrivals per second such as `500`, or `90/min` or `10/h`, more than 0; without -r the model is closed
    -r often: error: -r often: write arrivals per second such as `500`, or `90/min` or `10/h`, more than 0; without -r the model is closed
    -r 99000000: error: -r: must be at least 0.000002777777777777778 and at most 10000000 per second
    -n 0: error: -n 0: write 1 or more
    -z 0s: error: -z: must be longer than 0
    -z 5: error: -z: `5` has no unit: write `250ms`, `2s` or `1m30s`
    -z 2000h: error: -z: with the warm-up it must not exceed 1000h
    --warmup soon: error: --warmup: `soon` is not a duration: write `250ms`, `2s` or `1m30s`
    --timeout 0: error: --timeout: must be longer than 0
    --threads 0: error: --threads: `0` is not a number of threads: write 1 to 1024
    --http2 --streams 0: error: --streams: must be 1 to 100000
    --cacert missing.pem: error: TLS: has no certificate: write PEM text with at least one `BEGIN CERTIFICATE`
    --cacert: `missing.pem`: there is no such file; paths are relative to the current directory
    -k: error: `http://a` is not secured, so -k, --cacert, --cert and --key have no meaning: write `https://`
    -b @missing: error: -b: `missing`: there is no such file; paths are relative to the current directory
    -H Content-Length: 5: error: -H: `Content-Length` is written by the generator itself
    -H a b: c: error: -H: `a b` is not a field name
    -H Host: a -H host: b: error: -H host is given twice with two values, and a request has one: keep one of them
    -H Content-Type: a/b -H Content-Type: c/d: error: -H Content-Type is given twice with two values, and a request has one: keep one of them
    : error: URL: must begin with / and have no spaces or control characters (percent-encode them)
    : error: `http://a:/` has no port after its `:`: write 1 to 65535, or leave the `:` out
    : error: `ftp://a/`: `ftp://` is not available: write `http://` or `https://`
    : error: `http://` has no host: write `http://host:port/path`
    "#);
}

#[test]
fn so_many_requests_and_no_more() {
    let workspace = Workspace::new();
    let mock = Server::start(&workspace, &["mock", "--port", "0"]);
    let url = format!("http://{}/json/valid", mock.main());
    for (out, more) in [("closed", &["-c", "10"][..]), ("open", &["-r", "400"][..])] {
        let args = ["load", &url, "-n", "203", "--out", out, "--no-ui"];
        let finished = workspace.run(&[&args, more].concat());
        assert!(matches!(finished.code, Some(0 | 4)), "{finished:?}");
        let arm = &workspace.json(&format!("{out}/summary.json"))["arms"]["main"];
        assert_eq!(
            (&arm["intended"], &arm["sent"]),
            (&203.into(), &203.into()),
            "{out}"
        );
        assert_eq!(arm["outcomes"]["answered"]["200"], 203, "{out}");
    }
    let refused = |more: &[&str], saying: &str| {
        let finished = workspace.run(&[&["load", &url, "-n"], more].concat());
        finished.ended_with(2).saying(saying);
    };
    refused(&["0"], "-n 0");
    refused(&["10", "-z", "1s"], "cannot be used with");
    refused(&["10", "-r", "1/month"], "-r 1/month: ");
}

/// `tests/data/curl` holds commands as browsers copy them, and what curl itself sent of them.
#[test]
fn commands_copied_from_browsers_are_sent_as_curl_sends_them() {
    let workspace = Workspace::new();
    workspace.write("photo.png", "no photo");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/curl");
    let mut names: Vec<_> = std::fs::read_dir(&data)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    names.retain(|path| path.extension().is_some_and(|end| end == "txt"));
    names.sort();
    assert!(names.len() >= 8);
    for path in names {
        let mock = Server::that_remembers(&workspace);
        let host = mock.main().to_string();
        let command = std::fs::read_to_string(&path)
            .unwrap()
            .replace("127.0.0.1:8080", &host);
        let name = path.file_stem().unwrap().to_str().unwrap();
        let args = [
            "load", "--curl", &command, "-n", "1", "-c", "1", "--out", name, "--no-ui",
        ];
        let finished = workspace.run(&args);
        assert!(matches!(finished.code, Some(0 | 4 | 6)), "{finished:?}");
        let sent = the_request(&mock).replace(&host, "127.0.0.1:8080");
        let curls = std::fs::read_to_string(path.with_extension("sent")).unwrap();
        assert_eq!(sent, curls, "{name}");
    }
}

/// The one request that a mock has seen: its first line, its fields by name but for curl's or our own, and its body, whose boundary is `BOUNDARY`.
fn the_request(mock: &Server) -> String {
    let [request] = &mock.requests()[..] else {
        panic!("{:?}", mock.requests());
    };
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let own = ["accept", "user-agent", "accept-encoding"];
    let mut fields: Vec<(String, String)> = request["headers"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), text(value)))
        .filter(|(name, value)| !(own.contains(&name.as_str()) && is_own(value)))
        .collect();
    fields.sort();
    let fields: String = fields
        .iter()
        .map(|(name, value)| format!("{name}: {value}\n"))
        .collect();
    let shown = format!(
        "{} {}\n{fields}\n{}\n",
        text(&request["method"]),
        text(&request["url"]),
        text(&request["body"])
    );
    let boundary = shown
        .split_once("boundary=")
        .map(|(_, rest)| rest.lines().next().unwrap().to_owned());
    let shown = match boundary {
        Some(boundary) if !shown.contains("WebKit") => {
            let shown = shown.replace(&boundary, "BOUNDARY");
            let lines = shown
                .lines()
                .filter(|line| !line.starts_with("content-length"));
            lines.map(|line| format!("{line}\n")).collect()
        }
        _ => shown,
    };
    shown.replace('\r', "")
}

/// Whether a value is what curl or we say where nothing was asked for.
fn is_own(value: &str) -> bool {
    value == "*/*"
        || value.starts_with("curl/")
        || value.starts_with("plimsoll/")
        || value.starts_with("deflate")
        || value.starts_with("gzip, deflate")
}

#[test]
fn a_form_with_a_file_is_sent_in_parts() {
    let workspace = Workspace::new();
    workspace.write("photo.png", "no photo");
    // As long as the heads of two parts, their contents and three boundaries.
    let parts = r#"{"request":{"method":"POST","url":"/photos","headers":{"Content-Type":{"contains":"multipart/form-data; boundary="},
        "Content-Length":{"equalTo":"260"}}},"response":{"status":201}}"#;
    workspace.write("stubs/mappings/one.json", parts);
    let mock = Server::start(&workspace, &["mock", "--port", "0", "--root-dir", "stubs"]);
    let command = format!(
        "curl http://{}/photos -F 'title=$1 é' -F 'photo=@photo.png;type=image/png;filename=p.png'",
        mock.main()
    );
    let args = [
        "load", "--curl", &command, "-r", "50", "-c", "2", "-z", "200ms", "--warmup", "0", "--out",
        "run", "--no-ui",
    ];
    let finished = workspace.run(&args);
    assert!(matches!(finished.code, Some(0 | 4 | 6)), "{finished:?}");
    let arm = &workspace.json("run/summary.json")["arms"]["main"];
    assert_eq!(arm["outcomes"]["answered"]["201"], arm["sent"], "{arm}");
}
