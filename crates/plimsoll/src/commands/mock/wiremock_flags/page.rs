//! The last part of `docs/wiremock.md`: every flag of WireMock's `--help`, and what the mock makes of it. Only built for tests.
//!
//! A flag's effect is found out from the command's own arguments and from the table beside this; the page has how it differs.
//! `UPDATE=1 cargo test -p plimsoll flags` writes it. `help.txt` has the names that the real 3.13.2 tells.

use super::super::Args;
use super::{FLAGS, FlagEffect};
use std::fmt::Write as _;
use std::path::Path;

/// The names of the flags that WireMock 3.13.2 tells with `--help`, one a line.
const HELP: &str = include_str!("help.txt");

/// Where the part begins; what stands before is `plimsoll-mock`'s (`src/features.rs`).
const BEGIN: &str = "\n## The command line\n";

/// Flags that the mock acts on, and how that differs.
const DIFFERS: &[(&str, &str)] = &[
    (
        "admin-api-require-https",
        "calls in plaintext get 403, as there; it needs `--https-port`",
    ),
    (
        "allow-proxy-targets",
        "nobody is sent anything unless it is named here; WireMock allows everybody",
    ),
    ("bind-address", "loopback unless told otherwise"),
    ("help", "ours"),
    (
        "https-require-client-cert",
        "with `--https-client-ca` in place of a truststore",
    ),
    ("match-headers", "needs `--record-mappings`"),
    (
        "max-request-journal-entries",
        "10,000 unless told otherwise, where WireMock keeps all; totals count what was dropped",
    ),
    ("proxy-all", "to a host that `--allow-proxy-targets` names"),
    ("proxy-timeout", "also with a unit"),
    (
        "record-mappings",
        "100,000 mappings in a run; the journal need not be on",
    ),
    (
        "root-dir",
        "without it the current directory, if it has `mappings` or `__files`",
    ),
    (
        "trust-proxy-target",
        "certificates are verified behind `proxyBaseUrl` too",
    ),
    ("version", "of Plimsoll: `plimsoll --version`"),
];

fn part() -> String {
    let command = <Args as clap::Args>::augment_args(clap::Command::new("mock"));
    let acts_on = |flag: &str| {
        let mut arguments = command.get_arguments();
        arguments.any(|own| own.get_long() == Some(flag))
    };
    let mut rows = String::new();
    let mut counts = [0; 4];
    for flag in HELP.lines() {
        let fate = FLAGS.iter().find(|(name, _, _)| *name == flag);
        let note = DIFFERS.iter().find(|(name, _)| *name == flag);
        let (kind, word, why) = match (fate.map(|(_, _, fate)| fate), note) {
            (Some(FlagEffect::Fulfilled), _) => (0, "supported", "as it is in any case"),
            (Some(FlagEffect::NoEffect(why)), _) => (2, "accepted, with a warning", *why),
            (Some(FlagEffect::Replaced(by)), _) => (3, "**not**", *by),
            (Some(FlagEffect::Refused), _) => (3, "**not**", "refused by name"),
            (None, Some((_, why))) => (1, "differs", *why),
            (None, None) => {
                assert!(acts_on(flag), "nothing is said of --{flag}");
                (0, "supported", "")
            }
        };
        counts[kind] += 1;
        writeln!(rows, "| `--{flag}` | {word} | {why} |").unwrap();
    }
    let [supported, differs, accepted, not] = counts;
    let all = HELP.lines().count();
    format!(
        "{BEGIN}\n{all} flags in the `--help` of 3.13.2: {supported} supported as they are, {differs} that differ as said, {accepted} without effect, {not} not in this version.\n\n| flag | here | |\n|---|---|---|\n{rows}"
    )
}

#[test]
fn the_flags_of_the_page_are_those_of_the_command() {
    let (here, page) = (env!("CARGO_MANIFEST_DIR"), "../../docs/wiremock.md");
    let current = std::fs::read_to_string(Path::new(here).join(page)).unwrap();
    // The rest of the page is the mock's.
    let before = &current[..current.find(BEGIN).unwrap_or(current.len())];
    plimsoll_testbed::committed::check(here, page, &format!("{before}{}", part()));
}

#[test]
fn what_is_said_of_a_flag_is_of_one_that_wiremock_has() {
    let known = |flag: &str| HELP.lines().any(|name| name == flag);
    let listed = FLAGS.iter().map(|(name, _, _)| *name);
    let listed = listed.chain(DIFFERS.iter().map(|(name, _)| *name));
    let strange: Vec<&str> = listed.filter(|name| !known(name)).collect();
    assert!(strange.is_empty(), "{strange:?}");
}
