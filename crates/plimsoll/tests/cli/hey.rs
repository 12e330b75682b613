//! `plimsoll hey` beside hey itself: `tests/data/hey` holds what hey v0.1.5 printed of our mock, and of a port where nobody listens.

use crate::program::{Server, Workspace};
use std::path::Path;

fn sample(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/hey")
        .join(name);
    std::fs::read_to_string(path).unwrap()
}

/// A text without its figures: every number is 0 with as many decimals as it had, bars have no length.
fn form(text: &str) -> String {
    let mut form = String::new();
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.next() {
        match next {
            '■' => {}
            digit if digit.is_ascii_digit() => {
                form.push('0');
                while rest.next_if(char::is_ascii_digit).is_some() {}
                if rest.next_if_eq(&'.').is_some() {
                    form.push('.');
                    while rest.next_if(char::is_ascii_digit).is_some() {
                        form.push('0');
                    }
                }
            }
            other => form.push(other),
        }
    }
    form
}

#[test]
fn the_summary_has_heys_form_byte_for_byte() {
    let workspace = Workspace::new();
    let mock = Server::start(&workspace, &["mock", "--port", "0"]);
    let url = format!("http://{}/delay/5ms", mock.main());
    let ours = workspace
        .run(&["hey", "-n", "203", "-c", "10", &url])
        .ended_with(0);
    // hey's own last lines, with the percentages by which it knows them: the same for every run in which all were answered.
    assert_eq!(
        form(&ours.stdout),
        form(&sample("summary.txt")),
        "{}",
        ours.stdout
    );
    assert!(
        ours.stdout.contains("  [200]\t203 responses\n"),
        "{}",
        ours.stdout
    );
    assert!(ours.stdout.contains("  99%% in "), "{}", ours.stdout);
}

#[test]
fn the_rows_have_heys_form_and_there_are_as_many_as_answers() {
    let workspace = Workspace::new();
    let mock = Server::start(&workspace, &["mock", "--port", "0"]);
    let url = format!("http://{}/delay/5ms", mock.main());
    let ours = workspace
        .run(&["hey", "-n=203", "--c", "10", "-q", "40", "-o", "csv", &url])
        .ended_with(0);
    let heys = sample("rows.csv");
    let (mut ours, mut heys) = (ours.stdout.lines(), heys.lines());
    assert_eq!(ours.next(), heys.next(), "the header");
    let one = form(heys.next().unwrap());
    let ours: Vec<&str> = ours.collect();
    assert_eq!(ours.len(), 203);
    for row in ours {
        assert_eq!(form(row), one, "{row}");
        let fields: Vec<f64> = row.split(',').map(|field| field.parse().unwrap()).collect();
        let [response, dialup, lookup, write, wait, read, status, _] = fields[..] else {
            panic!("{row}");
        };
        assert!(lookup <= dialup, "{row}");
        assert!(dialup + write + wait + read <= response + 0.0003, "{row}");
        assert!(response >= 0.005 && status == 200.0, "{row}");
    }
}

#[test]
fn errors_are_counted_in_heys_form() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let url = format!("http://{closed}/");
    let ours = Workspace::new()
        .run(&["hey", "-n", "12", "-c", "5", &url])
        .ended_with(0);
    let before_message = |text: &str| {
        let end = text.find("\": ").unwrap();
        form(&text[..end])
            .replace(&form(&url), "URL")
            .replace("http://0.0.0.0:0/", "URL")
    };
    assert_eq!(
        before_message(&ours.stdout),
        before_message(&sample("refused.txt")),
        "{}",
        ours.stdout
    );
    assert!(
        ours.stdout.contains(&format!("  [12]\tGet \"{url}\": ")),
        "{}",
        ours.stdout
    );
}

#[test]
fn a_duration_ends_the_run() {
    let workspace = Workspace::new();
    let mock = Server::start(&workspace, &["mock", "--port", "0"]);
    let url = format!("http://{}/delay/5ms", mock.main());
    let body = workspace.write("body.txt", "x".repeat(10).as_str());
    let args = [
        "hey",
        "-z",
        "300ms",
        "-c",
        "2",
        "-m",
        "post",
        "-D",
        body.to_str().unwrap(),
        "-disable-keepalive",
        "-cpus",
        "1",
        "-t",
        "0",
        "-A",
        "text/plain",
        "-a",
        "me:secret",
        "-H",
        "X-A: 1",
        "-U",
        "robot",
        "-host",
        "example.com",
        "-disable-compression",
        "-disable-redirects",
        &url,
    ];
    let ours = workspace.run(&args).ended_with(0);
    let total = ours
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("  Total:\t"))
        .unwrap();
    let total: f64 = total.trim_end_matches(" secs").parse().unwrap();
    assert!((0.3..10.0).contains(&total), "{}", ours.stdout);
}

#[test]
fn wrong_flags_are_named_before_anything_is_sent() {
    let workspace = Workspace::new();
    let check = |args: &[&str], message: &str| {
        let finished = workspace
            .run(&[&["hey"], args].concat())
            .ended_with(2)
            .saying(message);
        assert_eq!(finished.stdout, "");
    };
    check(
        &["-n", "1", "-c", "2", "http://a/"],
        "-n cannot be less than -c.",
    );
    check(
        &["-z", "10", "http://a/"],
        "`-z 10`: write a duration such as 10s or 1m30s",
    );
    check(
        &["-o", "{{ .Rps }}", "http://a/"],
        "templates of Go are not available in this version",
    );
    check(&["http://a/", "-n", "5"], "`-n` comes after the URL");
    check(
        &["-H", "nonsense", "http://a/"],
        "could not parse the provided input; input = nonsense",
    );
    check(&["-nn", "5", "http://a/"], "hey has no flag `-nn`");
    check(&["-n", "many", "http://a/"], "`-n many`: write a number");
    check(&[], "the URL is missing");
    check(&["localhost:8080"], "`localhost:8080` has no scheme");
    let usage = workspace.run(&["hey", "-h"]).ended_with(0);
    assert!(
        usage
            .stdout
            .starts_with("Usage: plimsoll hey [options...] <url>")
    );
}
