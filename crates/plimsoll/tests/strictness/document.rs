//! `docs/strictness.md`: made from the cases and from what the peers were seen to do.
//!
//! Our own columns are the cases' expectations, which the other tests hold; so the document is checked as a whole and yet a
//! peer's update changes nothing until somebody records it (`UPDATE=1 cargo test --test strictness -- --include-ignored`).

use crate::case::{Case, Topic};
use crate::observed::{Observed, PEERS, is_update, load};
use crate::{requests, responses};
use std::fmt::Write as _;
use std::path::PathBuf;

const INTRODUCTION: &str = "# Strictness

What mock, gateway and generator do with messages that two parsers could read differently. Generated from
`crates/plimsoll/tests/strictness/`, where the exact bytes of every case are; the columns of mock and gateway are tested, whole and byte by
byte, on every run. The peers' columns are what was seen once, of the versions named;
`UPDATE=1 cargo test --test strictness -- --include-ignored` records them anew.

";

const REQUESTS: &str = "
A request case is sent on a connection of its own with an innocent request behind it. The entries are the statuses that came back; then
**open**, if the innocent request was answered in step, or **close**; **hangs**: the server waits for bytes that do not come. nginx and
HAProxy stand in front of a hyper server, with their default strictness; `0…` is an answer without a head. A verdict says who is right where
a peer differs: *ours*, or *either*, where the RFC leaves the choice and we take the stricter.
";

const RESPONSES: &str = "
# Responses

Sent by an upstream to our gateway. The entry is what the client got (`broken`: the connection was reset before the answer was complete) and
what became of the upstream's connection: *reused* for the next request, or given up for a *new* one. The codec, which the generator uses
too, refuses the same cases with a typed error.
";

#[test]
fn the_document_is_what_the_table_says() {
    let document = render(&requests::topics(), &responses::topics(), &load());
    if is_update() {
        std::fs::write(path(), document).unwrap();
        return;
    }
    let current = std::fs::read_to_string(path()).unwrap();
    let same = current == document;
    assert!(same, "docs/strictness.md is not what UPDATE=1 would write");
}

#[test]
fn where_a_peer_differs_the_table_says_who_is_right() {
    let observed = load();
    let mut silent = Vec::new();
    for topic in &requests::topics() {
        for case in &topic.cases {
            let key = requests::key(topic, case);
            let outcomes = observed.outcomes.get(&key);
            let outcomes = outcomes.unwrap_or_else(|| panic!("{key} was never put to the peers"));
            let ours = [&case.expect, requests::gateway_expected(case)].map(substance);
            let differs = |outcome: &String| !ours.contains(&substance(outcome));
            if outcomes.iter().any(differs) && verdict(case).is_empty() {
                silent.push(key);
            }
        }
    }
    assert!(silent.is_empty(), "no verdict:\n{}", silent.join("\n"));
}

/// An outcome without the choice of status among refusals, and without interim responses.
fn substance(outcome: &str) -> String {
    let words: Vec<&str> = outcome
        .split(' ')
        .filter(|word| !word.starts_with('1'))
        .map(|word| match word.as_bytes()[0] {
            b'4' | b'5' if word != "404" => "no",
            _ => word,
        })
        .collect();
    let refused = words
        .iter()
        .all(|word| matches!(*word, "no" | "close" | "open"));
    if refused {
        "refused".to_owned()
    } else {
        words.join(" ")
    }
}

fn verdict(case: &Case) -> String {
    let found = ["ours", "peers", "either"].iter().find_map(|key| {
        let reason = case.more.get(*key)?;
        Some(format!("*{key}*: {reason}"))
    });
    found.unwrap_or_default()
}

fn render(requests: &[Topic], responses: &[Topic], observed: &Observed) -> String {
    let count = |topics: &[Topic]| topics.iter().map(|topic| topic.cases.len()).sum::<usize>();
    let mut out = INTRODUCTION.to_owned();
    writeln!(
        out,
        "{} requests and {} responses.",
        count(requests),
        count(responses)
    )
    .unwrap();
    let versions: Vec<String> = PEERS
        .iter()
        .map(|peer| format!("{peer} {}", observed.versions[*peer]))
        .collect();
    write!(
        out,
        "Peers: {}.\n\n# Requests\n{REQUESTS}",
        versions.join(", ")
    )
    .unwrap();
    for topic in requests {
        write!(out, "\n## {}\n\n| case | RFC | mock | gateway | hyper | nginx | HAProxy | verdict |\n|---|---|---|---|---|---|---|---|\n", topic.title).unwrap();
        for case in &topic.cases {
            let unknown = ["?", "?", "?"].map(str::to_owned);
            let peers = observed.outcomes.get(&requests::key(topic, case));
            let peers = peers.unwrap_or(&unknown).join(" | ");
            let gateway = requests::gateway_expected(case);
            let Case {
                name, rfc, expect, ..
            } = case;
            let verdict = verdict(case);
            writeln!(
                out,
                "| {name} | {rfc} | {expect} | {gateway} | {peers} | {verdict} |"
            )
            .unwrap();
        }
    }
    out.push_str(RESPONSES);
    for topic in responses {
        write!(
            out,
            "\n## {}\n\n| case | RFC | gateway |\n|---|---|---|\n",
            topic.title
        )
        .unwrap();
        for Case {
            name, rfc, expect, ..
        } in &topic.cases
        {
            writeln!(out, "| {name} | {rfc} | {expect} |").unwrap();
        }
    }
    out
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/strictness.md")
}
