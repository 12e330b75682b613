//! The dated table of one run, as Markdown.

use crate::bench::Lengths;
use crate::row::Row;
use std::fmt;

/// What was found so far.
pub struct Table {
    /// Date and time, which is also the name of the file.
    pub stamp: String,
    /// Facts of host and versions.
    pub facts: Vec<(&'static str, String)>,
    /// The comparisons that were asked for; none for all.
    pub only: Vec<String>,
    /// How long and how often each side was measured.
    pub lengths: Lengths,
    /// The rows.
    pub rows: Vec<Row>,
    /// What is said of the readings, by comparison.
    pub notes: Vec<(&'static str, String)>,
}

/// The heading of the table.
pub const HEADING: &str = "| work | quantity | ours | peer | ratio (95 %) | must | aim | verdict |\n|---|---|---|---|---|---|---|---|";

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# Benchmark of {}\n", self.stamp)?;
        if self.lengths.short {
            writeln!(
                f,
                "Short form: shows that the comparisons work. Its figures say nothing.\n"
            )?;
        }
        for (name, value) in &self.facts {
            writeln!(f, "- {name}: {value}")?;
        }
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
