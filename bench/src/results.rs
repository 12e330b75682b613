//! The committed tables, and what documents quote of them between two marks: of every row that has a bar its newest figure. The README has
//! a few of these rows, [`WHOLE`] all of them.

mod cells;
mod curves;

use crate::Error;
use crate::figures::row::{HELD, MISSED, UNDECIDED};
use cells::cells;
use curves::Committed;
use std::cmp::Ordering;
use std::path::Path;

/// Where tables are kept, below the root of the sources.
pub const DIRECTORY: &str = "bench/results";
/// The file that quotes a few rows.
const FIRST_PAGE: &str = "README.md";
/// The file that quotes every row.
const WHOLE: &str = "docs/bench.md";
/// Begin and end of the quoted rows.
const ROWS: Marks = [
    "<!-- bench: written by `cargo run -p plimsoll-bench -- --quote` -->\n",
    "<!-- bench: end -->",
];
/// Begin and end of the curves in [`WHOLE`].
const CURVES: Marks = [
    "<!-- curves: written by `cargo run -p plimsoll-bench -- --quote` -->\n",
    "<!-- curves: end -->",
];
/// How the head of a table says that it is a part.
pub const PART: &str = "- only: ";

/// Begin and end of what is written into a document.
type Marks = [&'static str; 2];

/// Work and quantity of the rows of the first page.
const ON_FIRST_PAGE: [&str; 4] = [
    "gateway, plain, saturated | CPU µs per request",
    "gateway, mutual TLS, shards, saturated | CPU µs per request",
    "mock, one stub, saturated | CPU µs per request",
    "generator, closed | CPU µs per request",
];

/// A row of a table that has a bar.
#[derive(Debug, Clone, PartialEq)]
struct Judged {
    cells: Vec<String>,
    /// The name of its table's file.
    table: String,
}

/// Writes the newest figures to the documents that quote them; whether that changed one.
pub fn quote_newest(root: &Path) -> Result<bool, Error> {
    let mut changed = false;
    for (file, new) in documents(root)? {
        let path = root.join(file);
        // A picture may not be there yet.
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        changed |= new != old;
        std::fs::write(&path, new).map_err(Error::when("writing a document"))?;
    }
    Ok(changed)
}

/// Every file that quotes figures, as it has to be.
fn documents(root: &Path) -> Result<Vec<(String, String)>, Error> {
    let tables = tables(root)?;
    let rows = newest(&tables);
    let read = |file: &str| {
        let text = std::fs::read_to_string(root.join(file));
        text.map_err(Error::when(format!("reading {file}")))
    };
    let mut files = Vec::new();
    for file in [FIRST_PAGE, WHOLE] {
        let text = replaced(file, &read(file)?, ROWS, &quoted(file, &rows))?;
        files.push((file.to_owned(), text));
    }
    let (text, pictures) = curves::shown(&tables, &format!("{}{DIRECTORY}", up(WHOLE)));
    for (file, whole) in &mut files {
        if file == WHOLE {
            *whole = replaced(file, whole, CURVES, &text)?;
        }
    }
    let (beside, _) = WHOLE.rsplit_once('/').unwrap_or_default();
    files.extend(
        pictures
            .into_iter()
            .map(|(name, svg)| (format!("{beside}/{name}"), svg)),
    );
    Ok(files)
}

/// A document with another text between marks.
fn replaced(file: &str, text: &str, [begin, end]: Marks, between: &str) -> Result<String, Error> {
    let split = || {
        let (before, rest) = text.split_once(begin)?;
        let (_, after) = rest.split_once(end)?;
        Some(format!("{before}{begin}{between}{end}{after}"))
    };
    split().ok_or_else(|| Error::Measured(format!("{file} has no marks `{}`", begin.trim())))
}

/// The way from a document to the root.
fn up(file: &str) -> String {
    "../".repeat(file.matches('/').count())
}

/// All tables, the newest first.
fn tables(root: &Path) -> Result<Vec<Committed>, Error> {
    let reading = || Error::when("reading the tables");
    let directory = root.join(DIRECTORY);
    let mut tables = Vec::new();
    if directory.exists() {
        for entry in std::fs::read_dir(&directory).map_err(reading())? {
            let entry = entry.map_err(reading())?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let text = std::fs::read_to_string(entry.path()).map_err(reading())?;
            tables.push((name, text));
        }
    }
    // Their names begin with the date.
    tables.sort_by(|one, other| other.cmp(one));
    Ok(tables)
}

/// The rows of the newest whole table in its order, each as it was measured last, and behind them those that only newer parts have.
fn newest(tables: &[Committed]) -> Vec<Judged> {
    let is_part = |text: &str| text.lines().any(|line| line.starts_with(PART));
    let whole = tables.iter().position(|(_, text)| !is_part(text));
    let until = whole.map_or(tables.len(), |place| place + 1);
    let rows = |(name, text): &Committed| hardest(name, text);
    merged(tables[..until].iter().map(rows).collect())
}

/// Tables from the newest to the oldest as one. Work that was measured again has the rows of its newest table alone: another quantity may have
/// taken the place of one.
fn merged(mut tables: Vec<Vec<Judged>>) -> Vec<Judged> {
    let mut rows = tables.pop().unwrap_or_default();
    for newer in tables.into_iter().rev() {
        let mut measured: Vec<String> = Vec::new();
        for row in &newer {
            if !measured.contains(&row.cells[0]) {
                measured.push(row.cells[0].clone());
            }
        }
        for work in measured {
            // Bars beside several peers need not stand behind each other.
            let is_of_it = |row: &&Judged| row.cells[0] == work;
            let at = rows.iter().position(|row| is_of_it(&row));
            let at = at.unwrap_or(rows.len());
            rows.retain(|row| !is_of_it(&row));
            rows.splice(at..at, newer.iter().filter(is_of_it).cloned());
        }
    }
    rows
}

/// The rows that have a bar; of several peers under one bar the one that is hardest to hold: a bar is held when it is held beside all of
/// them.
fn hardest(name: &str, table: &str) -> Vec<Judged> {
    let mut kept: Vec<Judged> = Vec::new();
    for row in table.lines().filter_map(|line| judged(name, line)) {
        let same = |other: &&mut Judged| other.bar() == row.bar();
        match kept.iter_mut().find(same) {
            Some(other) if row.is_harder_than(other) => *other = row,
            Some(_) => {}
            None => kept.push(row),
        }
    }
    kept
}

/// The text of a document between its marks: the rows without those columns that explain.
fn quoted(file: &str, rows: &[Judged]) -> String {
    let shown = |row: &&Judged| file == WHOLE || ON_FIRST_PAGE.contains(&row.measured().as_str());
    let up = up(file);
    let mut text = String::from(
        "| work | quantity | ours | beside | ratio (95 %) | must | verdict | measured |\n|---|---|---|---|---|---|---|---|\n",
    );
    for Judged { cells, table } in rows.iter().filter(shown) {
        let cells = [0, 1, 2, 3, 4, 5, 7].map(|index| cells[index].as_str());
        let date = table.split('T').next().unwrap_or(table);
        text.push_str(&format!(
            "| {} | [{date}]({up}{DIRECTORY}/{table}) |\n",
            cells.join(" | ")
        ));
    }
    if file == FIRST_PAGE {
        let count = |verdict| rows.iter().filter(|row| row.cells[7] == verdict).count();
        let (held, missed, undecided) = (count(HELD), count(MISSED), count(UNDECIDED));
        text.push_str(&format!(
            "\nOf all {} limits {held} are held, {missed} missed and {undecided} undecided; {} have no valid figure.\n",
            rows.len(),
            rows.len() - held - missed - undecided
        ));
    }
    text
}

/// A line of a table, if it is a row with a bar.
fn judged(table: &str, line: &str) -> Option<Judged> {
    let cells = cells(line).filter(|cells| !cells[5].is_empty())?;
    let table = table.to_owned();
    Some(Judged { cells, table })
}

impl Judged {
    /// The measured thing: work and quantity.
    fn measured(&self) -> String {
        self.cells[..2].join(" | ")
    }

    /// The bar: what was measured, and the limit.
    fn bar(&self) -> [&str; 3] {
        [0, 1, 5].map(|index| self.cells[index].as_str())
    }

    /// By its verdict first, then by where its interval ends.
    fn is_harder_than(&self, other: &Self) -> bool {
        match self.rank().cmp(&other.rank()) {
            Ordering::Equal => self.end() > other.end(),
            unequal => unequal.is_lt(),
        }
    }

    /// The place of its verdict, the worst first: no valid figure, missed, undecided, held.
    fn rank(&self) -> usize {
        let known = [MISSED, UNDECIDED, HELD];
        let place = known.iter().position(|verdict| *verdict == self.cells[7]);
        place.map_or(0, |place| place + 1)
    }

    /// The upper end of its interval; nobody knows where one ends that is not there.
    fn end(&self) -> f64 {
        let written = || {
            let (_, end) = self.cells[4].split_once(" … ")?;
            end.strip_suffix(')')?.parse().ok()
        };
        written().unwrap_or(f64::INFINITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executable;

    #[test]
    fn documents_quote_the_newest_figures() {
        let root = executable::sources().unwrap();
        let again = "write it anew: cargo run -p plimsoll-bench -- --quote";
        for (file, expected) in documents(&root).unwrap() {
            let text = std::fs::read_to_string(root.join(&file)).unwrap();
            assert_eq!(text, expected, "{file}: {again}");
        }
        let rows = newest(&tables(&root).unwrap());
        let first = quoted(FIRST_PAGE, &rows);
        assert!(first.lines().count() > ON_FIRST_PAGE.len(), "{first}");
    }

    const HEAD: &str = "\
| work | quantity | ours | peer | ratio (95 %) | must | aim | verdict |
|---|---|---|---|---|---|---|---|
";

    #[test]
    fn one_line_per_bar_with_the_peer_that_is_hardest_to_hold() {
        let table = "\
| gateway | CPU µs per request | 8.00 | nginx: 10.00 | 0.800 (0.790 … 0.810) | ≤ 1.00 × | ≤ 0.92 × | held |
| gateway | CPU µs per request | 8.00 | HAProxy: 9.00 | 0.889 (0.880 … 0.900) | ≤ 1.00 × | ≤ 0.92 × | held |
| gateway | requests/s | 9000 | nginx: 8000 | 1.125 (1.100 … 1.150) |  |  |  |
| open | p99 of pacing lag | 240.0 µs |  |  | ≤ 250.0 µs |  | held |
| generator, closed |  |  | hey: not installed: `bench/peers/install hey` |  |  |  | not measured |
";
        let rows = hardest("2026-11-21T053500Z-a-2cpu.md", &format!("{HEAD}{table}"));
        let first = quoted(FIRST_PAGE, &rows);
        let counted =
            "Of all 2 limits 2 are held, 0 missed and 0 undecided; 0 have no valid figure.";
        assert!(first.ends_with(&format!("\n{counted}\n")), "{first}");
        insta::assert_snapshot!(quoted(WHOLE, &rows), @r#"
| work | quantity | ours | beside | ratio (95 %) | must | verdict | measured |
|---|---|---|---|---|---|---|---|
| gateway | CPU µs per request | 8.00 | HAProxy: 9.00 | 0.889 (0.880 … 0.900) | ≤ 1.00 × | held | [2026-11-21](../bench/results/2026-11-21T053500Z-a-2cpu.md) |
| open | p99 of pacing lag | 240.0 µs |  |  | ≤ 250.0 µs | held | [2026-11-21](../bench/results/2026-11-21T053500Z-a-2cpu.md) |
"#);
    }

    #[test]
    fn what_was_measured_again_stands_once_and_in_its_place() {
        let row =
            |work, figure| format!("| {work} | q | {figure} | p | 1.000 | ≤ 1.00 × |  | held |\n");
        let table = |name, rows: &[String]| hardest(name, &format!("{HEAD}{}", rows.concat()));
        let tables = vec![
            table(
                "c",
                &[
                    row("two", 3),
                    row("three", 3),
                    row("two", 4).replace("1.00 ×", "0.50 ×"),
                    row("two", 5).replace("| q |", "| another |"),
                ],
            ),
            // Under another bar it is the same figure.
            table(
                "b",
                &[row("two", 2), row("one", 2).replace("1.00 ×", "1.20 ×")],
            ),
            table(
                "a",
                &[
                    row("one", 1),
                    row("two", 1),
                    row("one", 1).replace("| q |", "| no longer measured |"),
                ],
            ),
        ];
        let rows = merged(tables);
        let figures = rows
            .iter()
            .map(|row| format!("{} {}", row.cells[0], row.cells[2]));
        let figures: Vec<String> = figures.collect();
        assert_eq!(figures, ["one 2", "two 3", "two 4", "two 5", "three 3"]);
    }

    #[test]
    fn a_verdict_is_harder_than_a_ratio() {
        let check = |rows: &[[&str; 2]], expected: usize| {
            let lines: Vec<String> = rows
                .iter()
                .enumerate()
                .map(|(peer, [ratio, verdict])| {
                    format!("| w | q | 1 | peer {peer} | {ratio} | ≤ 1.00 × |  | {verdict} |\n")
                })
                .collect();
            let kept = hardest("date", &format!("{HEAD}{}", lines.concat()));
            let kept: Vec<&str> = kept.iter().map(|row| row.cells[3].as_str()).collect();
            assert_eq!(kept.len(), 1, "{kept:?}");
            assert!(kept[0].starts_with(&format!("peer {expected}")), "{kept:?}");
        };
        let held = ["0.980 (0.970 … 0.990)", "held"];
        let undecided = ["0.970 (0.930 … 1.010)", "undecided"];
        let missed = ["1.010 (1.005 … 1.015)", "MISSED"];
        check(&[held, undecided], 1);
        check(&[undecided, held], 0);
        check(&[undecided, missed, held], 1);
        check(&[missed, ["", "not measured"], held], 1);
        check(&[missed, ["0.5 (0.4 … 0.6)", "rate not kept"]], 1);
        // The same verdict: by where the interval ends, not by the ratio.
        check(&[held, ["0.970 (0.945 … 0.995)", "held"]], 1);
        check(&[undecided, ["0.990", "undecided"]], 1);
    }
}
