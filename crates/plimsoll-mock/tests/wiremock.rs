//! Stub mappings and requests put to this mock and to WireMock 3.13.2 alike: its answers are committed beside the cases.
//!
//! `cargo test -p plimsoll-mock --test wiremock` holds this mock against the committed answers. The ignored test starts the real jar
//! (`bench/peers/install wiremock`) and holds the committed answers against it; with `UPDATE=1` it writes them anew.
#![allow(clippy::unwrap_used, reason = "test code outside test functions")]

#[path = "wiremock/admin_answers.rs"]
mod admin_answers;
#[path = "wiremock/answers.rs"]
mod answers;
#[path = "wiremock/cases.rs"]
mod cases;
#[path = "wiremock/jar.rs"]
mod jar;
#[path = "wiremock/ours.rs"]
mod ours;
#[path = "wiremock/recorded.rs"]
mod recorded;

use cases::Corpus;

/// The fewest cases that the corpus has, and the fewest of them that call the admin API.
const FEWEST: (usize, usize) = (750, 100);

#[test]
fn this_mock_answers_as_wiremock_does() {
    let corpus = Corpus::load();
    let mock = ours::Ours::start();
    let mut wrong = Vec::new();
    for file in corpus.files() {
        let expected = file.expected();
        let actual = answers::of(file, mock.address());
        wrong.extend(answers::compare(file, &expected, &actual));
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_difference_is_documented() {
    let corpus = Corpus::load();
    let documented = std::fs::read_to_string(cases::root().join("../../docs/mock.md")).unwrap();
    // Where a line ends is not said.
    let documented: Vec<&str> = documented.split_whitespace().collect();
    let documented = documented.join(" ");
    let missing: Vec<&str> = corpus
        .differences()
        .filter(|why| !documented.contains(*why))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/mock.md does not say:\n{}",
        missing.join("\n")
    );
    let cases = (corpus.cases(), corpus.admin_cases());
    assert!(
        cases.0 >= FEWEST.0 && cases.1 >= FEWEST.1,
        "{cases:?} cases"
    );
}

#[test]
#[ignore = "needs java and the jar: scripts/test installs them"]
fn what_this_mock_records_answers_in_wiremock_too() {
    let recorded = recorded::Recorded::make();
    let jar = jar::Jar::start();
    let ours = ours::Ours::start();
    for server in [jar.address(), ours.address()] {
        recorded.import(server);
        assert_eq!(recorded.answers(server), recorded.original, "{server}");
    }
}

#[test]
#[ignore = "needs java and the jar: scripts/test installs them"]
fn the_committed_answers_are_those_of_the_real_wiremock() {
    let jar = jar::Jar::start();
    let mut stale = Vec::new();
    for file in Corpus::load().files() {
        let actual = answers::of(file, jar.address());
        if file.update(&actual) {
            continue;
        }
        for (case, (committed, real)) in file.expected().iter().zip(&actual).enumerate() {
            if committed != real {
                stale.push(format!(
                    "{} case {case}: {committed:#} is now {real:#}",
                    file.name()
                ));
            }
        }
    }
    assert!(stale.is_empty(), "{}", stale.join("\n"));
}
