//! The index of the committed tables: each check with its tables, the newest first, and how many of its limits each says were held.

use crate::bar::Verdict;
use crate::checks::CHECKS;
use std::path::Path;

const HEAD: &str = "\
# Tables of the calibration

Each check with its tables, the newest first. What a check does and what must hold is in [docs/calibration.md](../../docs/calibration.md);
what was found, and why a limit failed or could not be measured, under \"What was found\" and in the sections of the checks there. A table of
some rows (`--rows`) has fewer limits. Written by `UPDATE=1 cargo test -p plimsoll-calibration index`.

| check | table | held | failed | not measured | not judged |
|---|---|---|---|---|---|
";
/// The columns of the index.
const VERDICTS: [Verdict; 4] = [
    Verdict::Held,
    Verdict::Failed,
    Verdict::NotMeasured,
    Verdict::NotJudged,
];

/// The index of tables, each by its file name and text.
fn index(tables: &[(String, String)]) -> String {
    let mut tables: Vec<_> = tables.iter().collect();
    // Their names begin with the date.
    tables.sort_by(|one, other| other.0.cmp(&one.0));
    let mut text = HEAD.to_owned();
    for check in &CHECKS {
        let mut written = false;
        for (name, table) in &tables {
            let counts = VERDICTS.map(|verdict| rows(table, check.name, verdict));
            if counts.iter().any(|count| *count > 0) {
                let stamp = name.trim_end_matches(".md");
                let counts = counts.map(|count| count.to_string()).join(" | ");
                let check = check.name;
                text.push_str(&format!("| `{check}` | [{stamp}]({name}) | {counts} |\n"));
                written = true;
            }
        }
        if !written {
            text.push_str(&format!("| `{}` | none |  |  |  |  |\n", check.name));
        }
    }
    text
}

/// How many rows of a check have this verdict in a table.
fn rows(table: &str, check: &str, verdict: Verdict) -> usize {
    let of_check = |line: &&str| line.starts_with(&format!("| {check} |"));
    let verdict = format!("| {} |", verdict.word());
    // What the witness saw is the last cell, the verdict the one before.
    let has_it = |line: &&str| {
        let (before, _) = line.trim_end_matches(" |").rsplit_once(" | ")?;
        Some(format!("{before} |").ends_with(&verdict))
    };
    let rows = table.lines().filter(of_check);
    rows.filter(|line| has_it(line) == Some(true)).count()
}

#[test]
fn the_index_is_of_the_tables_that_there_are() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let files = std::fs::read_dir(&results).unwrap().map(Result::unwrap);
    let named = files.map(|file| (file.file_name().into_string().unwrap(), file.path()));
    let tables = named.filter(|(name, _)| name != "README.md");
    let tables: Vec<_> = tables
        .map(|(name, path)| (name, std::fs::read_to_string(path).unwrap()))
        .collect();
    // Each table is of checks that there are, so that no row of it is lost.
    for (name, table) in &tables {
        let rows_of = |line: &&str| line.starts_with("| ") && !line.starts_with("| check |");
        let all = table.lines().filter(rows_of).count();
        let of_checks = CHECKS
            .iter()
            .flat_map(|check| VERDICTS.map(|verdict| rows(table, check.name, verdict)));
        assert_eq!(of_checks.sum::<usize>(), all, "{name}");
    }
    let here = env!("CARGO_MANIFEST_DIR");
    plimsoll_testbed::committed::check(here, "results/README.md", &index(&tables));
}

#[test]
fn rows_are_counted_by_check_and_verdict() {
    let table = "\
| check | what | limit | measured | verdict | witness |
|---|---|---|---|---|---|
| clean | a | held | FAILED before | held | 0 gaps |
| clean | b | held | held | FAILED | 1 gap |
| cleaner | c | x | y | held | 0 gaps |
";
    assert_eq!(rows(table, "clean", Verdict::Held), 1);
    assert_eq!(rows(table, "clean", Verdict::Failed), 1);
    assert_eq!(rows(table, "cleaner", Verdict::Held), 1);
    let older = table.replace("| FAILED |", "| not measured |");
    let tables = [
        ("a.md".to_owned(), older),
        ("b.md".to_owned(), table.to_owned()),
    ];
    let index = index(&tables);
    let lines =
        "| `clean` | [b](b.md) | 1 | 1 | 0 | 0 |\n| `clean` | [a](a.md) | 1 | 0 | 1 | 0 |\n";
    assert!(index.contains(lines), "{index}");
    assert!(index.contains("| `freeze` | none |"), "{index}");
}
