//! `plimsoll load URL` against our mock.

use crate::program::{Server, Workspace};

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
    let closed = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let url = format!("http://{closed}/");
    Workspace::new()
        .run(&["load", &url, "-r", "50", "--no-ui"])
        .ended_with(5)
        .saying(&format!("{closed} is not reachable"));
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
        .run_until_valid(&["run", "overload.yaml", "--out", "run", "--seed", "7"])
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
    refused(&["10", "-r", "1/month"], "-r: ");
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
