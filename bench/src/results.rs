//! The committed tables, and how the README quotes the newest whole one and the parts that were measured again since: one line per bar,
//! between two marks.

use crate::Trouble;
use crate::row::{HELD, MISSED, UNDECIDED};
use std::cmp::Ordering;
use std::path::Path;

/// Where whole tables are kept, below the root of the sources.
pub const DIRECTORY: &str = "bench/results";
/// The file that quotes the newest.
const QUOTING: &str = "README.md";
const BEGIN: &str = "<!-- bench: written by `cargo run -p plimsoll-bench -- --quote` -->\n";
/// How the head of a table says that it is a part.
pub const PART: &str = "- only: ";
const END: &str = "<!-- bench: end -->";

/// A row of a table that has a bar.
struct Judged<'a> {
    cells: Vec<&'a str>,
}

/// Writes the newest table's bars to the README; whether that changed it.
pub fn quote_newest(root: &Path) -> Result<bool, Trouble> {
    let path = root.join(QUOTING);
    let text = std::fs::read_to_string(&path).map_err(Trouble::when("reading the README"))?;
    let (before, _, after) = parts(&text)?;
    let new = format!("{before}{BEGIN}{}{END}{after}", newest_quoted(root)?);
    let changed = new != text;
    std::fs::write(&path, new).map_err(Trouble::when("writing the README"))?;
    Ok(changed)
}

/// What stands before, between and after the marks.
fn parts(text: &str) -> Result<(&str, &str, &str), Trouble> {
    let split = || {
        let (before, rest) = text.split_once(BEGIN)?;
        let (quoted, after) = rest.split_once(END)?;
        Some((before, quoted, after))
    };
    split().ok_or_else(|| Trouble::Measured(format!("{QUOTING} has no marks `{}`", BEGIN.trim())))
}

/// The lines that the README has between its marks.
fn newest_quoted(root: &Path) -> Result<String, Trouble> {
    let reading = || Trouble::when("reading the tables");
    let directory = root.join(DIRECTORY);
    let mut names = Vec::new();
    if directory.exists() {
        for entry in std::fs::read_dir(&directory).map_err(reading())? {
            names.push(entry.map_err(reading())?.file_name());
        }
    }
    // They begin with the date.
    names.sort_by(|one, other| other.cmp(one));
    let mut text = String::new();
    let mut quoted_already = Vec::new();
    for name in names.iter().filter_map(|name| name.to_str()) {
        let table = std::fs::read_to_string(directory.join(name)).map_err(reading())?;
        text.push_str(&quoted(name, &table, &mut quoted_already));
        if !table.lines().any(|line| line.starts_with(PART)) {
            return Ok(text);
        }
    }
    Ok(format!("{text}No whole table has been made yet.\n"))
}

/// The rows that have a bar, without those columns that explain; of several peers under one bar the one that is hardest to hold:
/// a bar is held when it is held beside all of them. What a newer table has is left out, whatever its bar was then; if nothing is left, nothing is said.
fn quoted(name: &str, table: &str, already: &mut Vec<String>) -> String {
    let mut kept: Vec<Judged<'_>> = Vec::new();
    for row in table.lines().filter_map(judged) {
        let same = |other: &&mut Judged<'_>| other.bar() == row.bar();
        match kept.iter_mut().find(same) {
            Some(other) if row.is_harder_than(other) => *other = row,
            Some(_) => {}
            None => kept.push(row),
        }
    }
    kept.retain(|row| !already.contains(&row.measured()));
    if kept.is_empty() {
        return String::new();
    }
    let gap = if already.is_empty() { "" } else { "\n" };
    already.extend(kept.iter().map(Judged::measured));
    let date = name.split('T').next().unwrap_or(name);
    let mut text = format!(
        "{gap}From [the table of {date}]({DIRECTORY}/{name}), which names the machine and the versions:\n\n| work | quantity | ours | beside | ratio (95 %) | must | verdict |\n|---|---|---|---|---|---|---|\n"
    );
    for Judged { cells } in kept {
        let cells = [0, 1, 2, 3, 4, 5, 7].map(|index| cells[index]);
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    text
}

/// A line of a table, if it is a row with a bar.
fn judged(line: &str) -> Option<Judged<'_>> {
    let inner = line.strip_prefix("| ")?.strip_suffix(" |")?;
    let cells: Vec<&str> = inner.split(" | ").collect();
    let is_row = cells.len() == 8 && cells[0] != "work" && !cells[5].is_empty();
    is_row.then_some(Judged { cells })
}

impl Judged<'_> {
    /// What was measured: work and quantity.
    fn measured(&self) -> String {
        self.cells[..2].join(" | ")
    }

    /// The bar: what was measured, and the limit.
    fn bar(&self) -> [&str; 3] {
        [0, 1, 5].map(|index| self.cells[index])
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
    fn the_readme_quotes_the_newest_table() {
        let root = executable::sources().unwrap();
        let text = std::fs::read_to_string(root.join(QUOTING)).unwrap();
        let (_, between, _) = parts(&text).unwrap();
        let newest = newest_quoted(&root).unwrap();
        assert_eq!(
            between, newest,
            "write it anew: cargo run -p plimsoll-bench -- --quote"
        );
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
        insta::assert_snapshot!(quoted("2026-11-21T053500Z-a-2cpu.md", &format!("{HEAD}{table}"), &mut Vec::new()), @r#"
From [the table of 2026-11-21](bench/results/2026-11-21T053500Z-a-2cpu.md), which names the machine and the versions:

| work | quantity | ours | beside | ratio (95 %) | must | verdict |
|---|---|---|---|---|---|---|
| gateway | CPU µs per request | 8.00 | HAProxy: 9.00 | 0.889 (0.880 … 0.900) | ≤ 1.00 × | held |
| open | p99 of pacing lag | 240.0 µs |  |  | ≤ 250.0 µs | held |
"#);
    }

    #[test]
    fn what_was_measured_again_is_quoted_once() {
        let row =
            |work, figure| format!("| {work} | q | {figure} | p | 1.000 | ≤ 1.00 × |  | held |\n");
        let mut already = Vec::new();
        let part = quoted("b", &format!("{HEAD}{}", row("one", 2)), &mut already);
        let whole = format!("{HEAD}{}{}", row("one", 1), row("two", 1));
        let whole = quoted("a", &whole, &mut already);
        let works = |text: &str, work: &str| text.contains(&format!("| {work} | q |"));
        assert!(works(&part, "one") && !works(&part, "two"), "{part}");
        assert!(!works(&whole, "one") && works(&whole, "two"), "{whole}");
        assert!(!part.starts_with('\n') && whole.starts_with('\n'));
        // Under another bar it is the same figure, and a table without anything new is not quoted.
        let before = format!("{HEAD}{}", row("two", 1).replace("1.00 ×", "1.20 ×"));
        assert_eq!(quoted("0", &before, &mut already), "");
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
            let kept = quoted(
                "date",
                &format!("{HEAD}{}", lines.concat()),
                &mut Vec::new(),
            );
            let kept: Vec<&str> = kept.lines().filter(|line| line.contains("peer")).collect();
            assert_eq!(kept.len(), 1, "{kept:?}");
            assert!(kept[0].contains(&format!("peer {expected}")), "{kept:?}");
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
