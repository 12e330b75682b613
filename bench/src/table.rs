//! The dated table of one run, as Markdown.

use crate::bench::Lengths;
use crate::figures::findings::Findings;
use crate::figures::row::Row;
use crate::runner::Head;
use std::fmt;

/// The table of a run, as far as it has come.
pub struct Table {
    /// Its title, date and facts.
    pub head: Head,
    /// The comparisons that were asked for; none for all.
    pub only: Vec<String>,
    /// How long and how often each side was measured.
    pub lengths: Lengths,
    /// The rows.
    pub rows: Vec<Row>,
    /// Notes on the readings, each with its comparison.
    pub notes: Vec<(&'static str, String)>,
}

/// The note above a table whose figures say nothing.
pub const SHORT: &str = "Short form: shows that the comparisons work. Its figures say nothing.";
/// The heading of the table.
pub const HEADING: &str = "| work | quantity | ours | peer | ratio (95 %) | must | aim | verdict |\n|---|---|---|---|---|---|---|---|";

impl Table {
    /// Adds the findings of a comparison.
    pub fn add(&mut self, comparison: &'static str, found: Findings) {
        self.rows.extend(found.rows);
        let notes = found.notes.into_iter();
        self.notes.extend(notes.map(|note| (comparison, note)));
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.head)?;
        if !self.only.is_empty() {
            writeln!(f, "{}{}", crate::results::PART, self.only.join(", "))?;
        }
        writeln!(
            f,
            "- rounds: {}; figures are medians over rounds, what is added is a mean of differences and ratios geometric means, with 95 % t intervals over rounds (docs/bench.md)\n",
            self.lengths.rounds
        )?;
        writeln!(f, "{HEADING}")?;
        for row in &self.rows {
            writeln!(f, "{}", row.markdown())?;
        }
        writeln!(f)?;
        for (comparison, note) in &self.notes {
            writeln!(f, "- {comparison}: {note}")?;
        }
        Ok(())
    }
}
