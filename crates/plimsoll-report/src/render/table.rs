//! A table of texts, as aligned columns or as Markdown. The first column holds names; the others hold figures unless said otherwise.

use super::words::plain;

/// Head and rows of equal length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    /// Columns of words besides the first: set to the left.
    words: &'static [usize],
}

impl Table {
    /// A table without rows yet.
    pub(super) fn new<'a>(head: impl IntoIterator<Item = &'a str>) -> Self {
        let head = head.into_iter().map(str::to_owned).collect();
        Self {
            head,
            rows: Vec::new(),
            words: &[],
        }
    }

    /// The same, with these columns holding words.
    pub(super) fn with_words(mut self, columns: &'static [usize]) -> Self {
        self.words = columns;
        self
    }

    /// Whether a column holds words.
    pub(super) fn is_words(&self, column: usize) -> bool {
        column == 0 || self.words.contains(&column)
    }

    /// Columns two spaces apart: the first to the left, the others to the right. Every line ends in a newline.
    pub(super) fn to_text(&self) -> String {
        let lines = || std::iter::once(&self.head).chain(&self.rows);
        let width = |column: usize| {
            lines()
                .filter_map(|row| row.get(column))
                .map(|cell| plain(cell).chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let mut text = String::new();
        for row in lines() {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let cell = plain(cell);
                let gap = if column == 0 { "" } else { "  " };
                if self.is_words(column) {
                    line.push_str(&format!("{gap}{cell:<width$}"));
                } else {
                    line.push_str(&format!("{gap}{cell:>width$}"));
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// A Markdown table, figures to the right.
    pub(super) fn to_markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| escape_markdown(cell)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule = (0..self.head.len()).map(|c| if self.is_words(c) { "---" } else { "---:" });
        let mut text = line(&self.head);
        text.push_str(&format!("| {} |\n", rule.collect::<Vec<_>>().join(" | ")));
        self.rows.iter().for_each(|row| text.push_str(&line(row)));
        text
    }
}

/// Text that Markdown shows as it is.
pub(super) fn escape_markdown(text: &str) -> String {
    let mut escaped = String::new();
    for character in plain(text).chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '!' => {
                escaped.extend(['\\', character])
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new(["arm", "p50"]);
        table
            .rows
            .push(vec!["a|b".to_owned(), "1.00 ms".to_owned()]);
        table
            .rows
            .push(vec!["long name".to_owned(), "12 µs".to_owned()]);
        table
    }

    #[test]
    fn text() {
        insta::assert_snapshot!(sample().to_text(), @r"
        arm            p50
        a|b        1.00 ms
        long name    12 µs
        ");
    }

    #[test]
    fn markdown() {
        insta::assert_snapshot!(sample().to_markdown(), @r"
        | arm | p50 |
        | --- | ---: |
        | a\|b | 1.00 ms |
        | long name | 12 µs |
        ");
    }
}
