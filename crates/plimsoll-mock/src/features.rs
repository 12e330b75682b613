//! `docs/wiremock.md`: every feature of WireMock's format, every admin route, and what becomes of it here. Only built for tests.
//!
//! Whether something is supported is found out, not written down: each row has an example that is read, a helper's name that is looked up,
//! a route that is asked for, or the test that holds it. What is written down is how it differs, and what is not there at all. `UPDATE=1 cargo test
//! -p plimsoll-mock --lib features` writes the page, but for its last part, the flags: the binary has those (`plimsoll/src/commands/mock/wiremock_flags.rs`).

use crate::admin;
use plimsoll_wiremock::reader::names_asked_for;
use plimsoll_wiremock::reader::problem::{ProblemKind, StubProblem};
use plimsoll_wiremock::reader::surroundings::Surroundings;
use plimsoll_wiremock::stub::read_document;
use plimsoll_wiremock::template::Template;
use std::fmt::Write as _;
use std::path::Path;

const INTRODUCTION: &str = "# WireMock, feature by feature

What `plimsoll mock` makes of WireMock 3.13.2's stub mappings, admin API, transport and command line. Generated: whether something is
supported is found out by the mock's own reader, helpers, routes, tests and flags, and tests hold this page to it (`UPDATE=1 cargo test -p
plimsoll-mock --lib features` writes it anew, with `-p plimsoll flags` its last part). What differs was seen beside the real WireMock
([mock.md](mock.md) says how). What is not supported is refused by name when it is loaded, with its place.
";

/// A line for each feature below the names of the columns, tab-separated: section of the page; feature, with the names that it has in
/// WireMock between backticks; kind of example, and the example; how it differs, or why it is not there.
const TABLE: &str = include_str!("features/rows.tsv");

/// Where the part of the page begins that is the binary's.
const FLAGS: &str = "\n## The command line\n";

/// State of a row by its example.
#[derive(Debug)]
enum State {
    Supported,
    Not(String),
}

/// Example of a row.
#[derive(Debug, Clone, Copy)]
enum Example {
    /// A stub mapping that has the feature.
    Stub(&'static str),
    /// A call of a helper in a template.
    Template(&'static str),
    /// A route: method and path below `/__admin`.
    Route(&'static str, &'static str),
    /// A test that holds it: its file below `tests/mock` and its name.
    Test(&'static str, &'static str),
    /// It is not there.
    Absent,
}

/// A line of the table.
struct Row {
    section: &'static str,
    feature: &'static str,
    example: Example,
    note: &'static str,
}

fn rows() -> impl Iterator<Item = Row> {
    TABLE.lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [section, feature, kind, example, note] = cells[..] else {
            panic!("five cells: {line}")
        };
        Row {
            section,
            feature,
            example: Example::read(kind, example),
            note,
        }
    })
}

impl Example {
    fn read(kind: &str, text: &'static str) -> Self {
        let two = || {
            text.split_once(' ')
                .unwrap_or_else(|| panic!("two words: {text}"))
        };
        match kind {
            "stub" => Self::Stub(text),
            "template" => Self::Template(text),
            "route" => Self::Route(two().0, two().1),
            "test" => Self::Test(two().0, two().1),
            "absent" => Self::Absent,
            other => panic!("no kind of example: {other}"),
        }
    }

    fn state(self) -> State {
        match self {
            Self::Stub(text) => {
                let problems = problems_of(text);
                let wrong = |problem: &StubProblem| {
                    matches!(problem.kind, ProblemKind::Unknown | ProblemKind::Syntax)
                };
                assert!(!problems.iter().any(wrong), "{text}: {problems:?}");
                match problems.first() {
                    None => State::Supported,
                    Some(problem) => State::Not(problem.message.clone()),
                }
            }
            Self::Template(text) => match Template::compile(text) {
                Ok(_) => State::Supported,
                Err(message) => State::Not(message),
            },
            Self::Route(method, path) => {
                if admin::routes().any(|route| route == (method, path)) {
                    State::Supported
                } else {
                    State::Not("404, by name".to_owned())
                }
            }
            Self::Test(file, name) => {
                let path = format!("{}/tests/mock/{file}.rs", env!("CARGO_MANIFEST_DIR"));
                let tests = std::fs::read_to_string(path).unwrap();
                assert!(tests.contains(&format!("#[test]\nfn {name}()")), "{name}");
                State::Supported
            }
            Self::Absent => State::Not(String::new()),
        }
    }
}

fn problems_of(text: &str) -> Vec<StubProblem> {
    let (results, _) = read_document(text, &Surroundings::default());
    results
        .into_iter()
        .filter_map(Result::err)
        .flatten()
        .collect()
}

/// The figures of the check `wiremock-acceptance` by class, and what fails in it.
const FIGURES: &str = include_str!("../../../calibration/wiremock/figures.txt");
const FAILURES: &str = include_str!("../../../calibration/wiremock/failures.txt");

const ACCEPTANCE: &str = "
## WireMock's acceptance tests

WireMock 3.13.2's own acceptance tests, with the mock in the place of its server; those about Java extensions, browser proxying and the
inside of the server are left out. A substitute for the class of the server starts our executable, maps options to flags and forwards to
WireMock's Java client (`calibration/wiremock/java`). `plimsoll-calibration --only wiremock-acceptance --wiremock CHECKOUT` runs them; the
real jar was run in the same place. Tests that pass, before this was measured and now:

| class | tests | before | now | the real jar |
|---|---|---|---|---|
";

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    let mut counts = [0; 3];
    let mut body = String::new();
    let mut section = "";
    for row in rows() {
        if row.section != section {
            section = row.section;
            writeln!(
                body,
                "\n## {section}\n\n| feature | here | |\n|---|---|---|"
            )
            .unwrap();
        }
        let (place, state, note) = match (row.example.state(), row.note) {
            (State::Supported, "") => (0, "supported", String::new()),
            (State::Supported, note) => (1, "differs", note.to_owned()),
            (State::Not(why), "") => (2, "**not**", why),
            (State::Not(_), note) => (2, "**not**", note.to_owned()),
        };
        counts[place] += 1;
        let (feature, note) = (row.feature, note.replace('|', "\\|"));
        writeln!(body, "| {feature} | {state} | {note} |").unwrap();
    }
    let [supported, differs, not] = counts;
    writeln!(
        page,
        "\n{} features: {supported} supported as they are, {differs} that differ as said, {not} not in this version.",
        supported + differs + not
    )
    .unwrap();
    page + &body + &acceptance()
}

/// Results of WireMock's own acceptance tests, of the data of the check that runs them.
fn acceptance() -> String {
    let mut part = ACCEPTANCE.to_owned();
    for line in FIGURES.lines() {
        writeln!(part, "| {} |", line.replace('\t', " | ")).unwrap();
    }
    part += "\nOf every other class all tests passed before, too. What fails, and why:\n\n| class | test | reason |\n|---|---|---|\n";
    for line in FAILURES.lines() {
        let cells: Vec<String> = line
            .split('\t')
            .map(|cell| cell.replace('|', "\\|"))
            .collect();
        writeln!(part, "| {} | `{}` | {} |", cells[0], cells[1], cells[2]).unwrap();
    }
    part
}

/// Whether some row names this, between backticks.
fn is_named(name: &str) -> bool {
    rows().any(|row| {
        row.feature
            .split('`')
            .skip(1)
            .step_by(2)
            .any(|word| word == name)
    })
}

#[test]
fn the_page_is_what_the_mock_does() {
    let (here, file) = (env!("CARGO_MANIFEST_DIR"), "../../docs/wiremock.md");
    let current = std::fs::read_to_string(Path::new(here).join(file)).unwrap_or_default();
    // The rest of the page is the command's.
    let flags = &current[current.find(FLAGS).unwrap_or(current.len())..];
    plimsoll_testbed::committed::check(here, file, &format!("{}{flags}", page()));
}

#[test]
fn every_property_that_the_reader_knows_has_a_row() {
    for row in rows() {
        if let Example::Stub(text) = row.example {
            // What it says is another test's matter.
            drop(problems_of(text));
        }
    }
    let missing: Vec<&str> = names_asked_for()
        .into_iter()
        .filter(|name| !is_named(name))
        .collect();
    assert!(missing.is_empty(), "no row for {missing:?}");
}

#[test]
fn every_route_and_helper_has_a_row() {
    let has_row = |route| {
        rows().any(
            |row| matches!(row.example, Example::Route(method, path) if (method, path) == route),
        )
    };
    let missing: Vec<_> = admin::routes().filter(|route| !has_row(*route)).collect();
    assert!(missing.is_empty(), "no row for {missing:?}");
    let missing: Vec<_> = plimsoll_wiremock::template::helper_names()
        .filter(|name| !is_named(name))
        .collect();
    assert!(missing.is_empty(), "no row for {missing:?}");
}
