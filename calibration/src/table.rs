//! The dated table of one calibration, as Markdown.

#[cfg(test)]
mod index;

use crate::bar::{Bar, Verdict};
use crate::bench::Error;
use crate::runner::Head;
use crate::witness::Seen;
use std::fmt;

/// The note above a table of the short form.
pub const SHORT: &str = "Short form: shows that the checks work. It is too short for their limits; its verdicts say nothing about the instrument.";

/// The table of a run, as far as it has come.
pub struct Table {
    head: Head,
    rows: Vec<Row>,
}

struct Row {
    check: &'static str,
    bar: Bar,
    witness: String,
}

impl Table {
    /// An empty one.
    pub fn new(head: Head) -> Self {
        let rows = Vec::new();
        Self { head, rows }
    }

    /// Adds what a check found and returns its lines for the terminal. A check that could not be carried out becomes a bar of its own.
    pub fn add(
        &mut self,
        check: &'static str,
        bars: Result<Vec<Bar>, Error>,
        seen: &Seen,
    ) -> Vec<String> {
        let bars = bars.unwrap_or_else(|error| vec![Bar::error("the check", &error)]);
        let lines = bars.iter().map(line).collect();
        self.rows.extend(bars.into_iter().map(|bar| Row {
            check,
            witness: bar.seen.unwrap_or(*seen).to_string(),
            bar,
        }));
        lines
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether no bar failed.
    pub fn all_held(&self) -> bool {
        self.rows
            .iter()
            .all(|row| row.bar.verdict != Verdict::Failed)
    }
}

fn line(bar: &Bar) -> String {
    format!("{}: {} [{}]", bar.what, bar.measured, bar.verdict.word())
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.head)?;
        writeln!(
            f,
            "\nWitness: scheduling gaps above 5 ms over all processors and the share of processor time taken by the hypervisor, while the row's figure was measured.\n"
        )?;
        writeln!(f, "| check | what | limit | measured | verdict | witness |")?;
        writeln!(f, "|---|---|---|---|---|---|")?;
        for Row {
            check,
            bar,
            witness,
        } in &self.rows
        {
            let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
            writeln!(
                f,
                "| {check} | {} | {} | {} | {} | {witness} |",
                cell(&bar.what),
                cell(&bar.limit),
                cell(&bar.measured),
                bar.verdict.word()
            )?;
        }
        Ok(())
    }
}
