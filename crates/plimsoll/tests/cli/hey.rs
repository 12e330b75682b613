//! `plimsoll hey` beside hey itself: `tests/data/hey` holds what hey v0.1.5 printed of our mock, and of a port where nobody listens.

use crate::program::{Finished, Server, Workspace};
use plimsoll_testbed::port::Refusing;
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
    let closed = Refusing::hold().unwrap();
    let url = format!("http://{}/", closed.address);
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
fn a_timeout_is_told_in_words_that_scripts_look_for() {
    let workspace = Workspace::new();
    let mock = Server::start(&workspace, &["mock", "--port", "0"]);
    let url = format!("http://{}/delay/20s", mock.main());
    let ours = workspace.run(&["hey", "-n", "3", "-c", "3", "-t", "1", &url]);
    let expected = format!(
        "  [3]\tGet \"{url}\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
    );
    let ours = ours.ended_with(0);
    assert!(ours.stdout.contains(&expected), "{}", ours.stdout);
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
fn redirects_belong_to_the_request_that_they_answer() {
    let workspace = Workspace::new();
    let redirect = |from: &str, status: u16, to: &str| {
        workspace.write(
            &format!("stubs/mappings{from}.json"),
            &format!(
                r#"{{"request":{{"url":"{from}"}},"response":{{"status":{status},"headers":{{"Location":"{to}"}}}}}}"#
            ),
        );
    };
    redirect("/old", 302, "/newer");
    redirect("/newer", 307, "new?a=b");
    redirect("/round", 301, "/round");
    redirect("/away", 303, "http://elsewhere.example/");
    workspace.write(
        "stubs/mappings/new.json",
        r#"{"request":{"method":"GET","url":"/new?a=b","headers":{"Content-Type":{"absent":true},"X-A":{"equalTo":"1"}}},
            "response":{"body":"here"}}"#,
    );
    let arguments = ["mock", "--port=0", "--root-dir=stubs", "--disable-gzip"];
    let mock = Server::start(&workspace, &arguments);
    let asked = |more: &[&str], path: &str| {
        let url = format!("http://{}{path}", mock.main());
        let args = [&["hey", "-n", "7", "-c", "2", "-H", "X-A: 1"], more].concat();
        workspace.run(&[&args[..], &[&url]].concat()).ended_with(0)
    };
    let says = |finished: Finished, lines: &[&str]| {
        for line in lines {
            assert!(finished.stdout.contains(line), "{line}: {finished:?}");
        }
        finished
    };
    let body = ["-m", "POST", "-d", "body"];
    says(
        asked(&body, "/old"),
        &["  [200]\t7 responses\n\n", "  Total data:\t28 bytes"],
    );
    says(
        asked(&["-disable-redirects"], "/old"),
        &["  [302]\t7 responses"],
    );
    says(
        asked(&[], "/round"),
        &[
            "Status code distribution:\n\nError",
            "/round\": stopped after 10 redirects\n",
        ],
    );
    says(asked(&[], "/away"), &["  [303]\t7 responses"]).saying("7 redirects were not followed");
    let rows = asked(&["-o", "csv"], "/old").stdout;
    let statuses: Vec<&str> = rows
        .lines()
        .skip(1)
        .map(|row| row.split(',').nth(6).unwrap())
        .collect();
    assert_eq!(statuses, ["200"; 7]);
}

#[test]
fn what_hey_refuses_is_refused_with_its_words_and_its_code() {
    let workspace = Workspace::new();
    let check = |args: &[&str], code: i32, message: &str| {
        let finished = workspace
            .run(&[&["hey"], args].concat())
            .ended_with(code)
            .saying(message);
        assert_eq!(finished.stdout, "");
    };
    let url = "http://a/";
    check(
        &["-n", "1", "-c", "2", url],
        1,
        "-n cannot be less than -c.",
    );
    let both = "-n and -c cannot be smaller than 1.";
    check(&["-c", "0", url], 1, both);
    check(&["-n", "-3", url], 1, both);
    check(
        &["-z", "1s", "-c", "0", url],
        1,
        "-c cannot be smaller than 1.",
    );
    check(
        &["-c", "2000000", "-n", "2000000", url],
        1,
        "-c cannot be larger than 1000000.",
    );
    let not_parsed = "could not parse the provided input; input = nonsense";
    check(&["-H", "nonsense", url], 1, not_parsed);
    check(&["-a", "nonsense", url], 1, not_parsed);
    check(
        &["-h", "X: 1", url],
        1,
        "Flag '-h' is deprecated, please use '-H' instead.",
    );
    check(&["-D", "missing", url], 1, "-D missing: ");
    check(&[], 1, "the URL is missing");
    check(&["localhost:8080"], 1, "`localhost:8080` has no scheme");
    check(
        &["-z", "10", url],
        2,
        "invalid value \"10\" for flag -z: write a duration such as 10s or 1m30s",
    );
    check(
        &["-n", "many", url],
        2,
        "invalid value \"many\" for flag -n: write a number",
    );
    check(
        &["-h2=maybe", url],
        2,
        "invalid boolean value \"maybe\" for -h2: write true or false",
    );
    check(&["-nn", "5", url], 2, "flag provided but not defined: -nn");
    check(&["-n"], 2, "flag needs an argument: -n");
    check(
        &["-o", "{{ .Rps }}", url],
        2,
        "-o: templates of Go are not available in this version",
    );
    check(
        &["-x", "http://b:1", url],
        2,
        "-x is not available in this version",
    );
    check(&[url, "-n", "5"], 2, "`-n` comes after the URL");
}

#[test]
fn what_no_load_can_be_names_the_flag() {
    let check = |args: &[&str], message: &str| {
        let finished = Workspace::new().run(&[&["hey"], args].concat());
        finished.ended_with(1).saying(message);
    };
    let local = "http://127.0.0.1:1/";
    check(&["-m", "@", local], "-m: must be a method such as GET");
    check(&["-host", "a b", local], "-host: must be a host");
    check(&["-q", "99999999", local], "-q: ");
    check(&["-z", "2000h", local], "-z: ");
    check(&["http://127.0.0.1:1/a b"], "URL: must begin with /");
}

#[test]
fn whoever_asks_is_told_the_flags() {
    for usage in ["-h", "-help", "--help"] {
        let told = Workspace::new().run(&["hey", usage]).ended_with(0);
        let begins = "Usage: plimsoll hey [options...] <url>";
        assert!(told.stdout.starts_with(begins), "{told:?}");
    }
}
