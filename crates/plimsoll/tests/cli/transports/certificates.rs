//! A server's certificate that does not hold: every place that tells of the run says why.

use super::write_experiment;
use crate::program::{Server, Workspace};
use plimsoll_testbed::authority::Authority;

/// Runs a load against our mock, whose certificate for `localhost` is issued or has expired, and has every place that tells of it show `words`.
fn check(expired: bool, tls: &str, words: &str) {
    let workspace = Workspace::new();
    let (authority, stranger) = (Authority::new().unwrap(), Authority::new().unwrap());
    let issued = match expired {
        true => authority.issue_expired(&["localhost"]),
        false => authority.issue(&["localhost"]),
    };
    let issued = issued.unwrap();
    for (name, text) in [
        ("ca.pem", authority.certificate()),
        ("stranger.pem", stranger.certificate()),
        ("server.pem", &issued.certificate),
        ("server.key", &issued.key),
    ] {
        workspace.write(name, text);
    }
    let line = "mock --port 0 --https-port 0 --https-cert server.pem --https-key server.key";
    let mock = Server::start(&workspace, &line.split(' ').collect::<Vec<_>>());
    let load = format!("rate: 50/s, connections: 4, tls: {{ {tls} }}");
    write_experiment(&workspace, "https", mock.listening["https"], &load);
    // As long as it takes until a plain line is written, and with something to be judged.
    let text = workspace
        .read("load.yaml")
        .replace("duration: 1s", "duration: 6s");
    let judged = "thresholds: [{ metric: failed_share, below: 1% }]\n";
    workspace.write("load.yaml", &(text + judged));
    let finished = workspace.experiment("load.yaml", &["--no-ui"]);
    assert_eq!(mock.stop(), Some(0));

    let line = finished
        .stderr
        .lines()
        .find(|line| line.contains("/s good"));
    let line = line.unwrap_or_default();
    assert!(
        line.contains(&format!("failed so far (TLS failed: {words})")),
        "{}",
        finished.stderr
    );
    assert!(finished.stdout.contains(words), "{}", finished.stdout);
    for format in ["html", "md", "junit"] {
        let shown = workspace
            .run(&["report", "run", "--format", format])
            .ended_with(0);
        // As Markdown, HTML and XML write an apostrophe.
        let plain = shown.stdout.replace("&#39;", "'").replace("&apos;", "'");
        assert!(plain.contains(words), "{format}: {}", shown.stdout);
    }
}

#[test]
fn why_a_certificate_does_not_hold_is_said_wherever_the_run_is_told_of() {
    std::thread::scope(|scope| {
        for (expired, tls, words) in [
            (
                false,
                "ca: ca.pem, server_name: elsewhere.example",
                "the server's certificate is for another name",
            ),
            (
                false,
                "ca: stranger.pem",
                "the server's certificate comes from an unknown issuer",
            ),
            (true, "ca: ca.pem", "the server's certificate has expired"),
        ] {
            scope.spawn(move || check(expired, tls, words));
        }
    });
}
