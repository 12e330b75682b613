//! A table of texts, as aligned columns or as Markdown. The first column holds names; the others hold figures unless said otherwise.

use super::words::plain;

/// Between two columns.
const GAP: &str = "  ";

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

    /// This table, with these columns holding words.
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
        self.to_text_within(usize::MAX)
    }

    /// This table in lines of at most so many characters, if each column alone fits: columns that find no room follow below, once more behind the
    /// names of their rows.
    pub(super) fn to_text_within(&self, width: usize) -> String {
        let widths = self.widths();
        let blocks = self.blocks(&widths, width);
        let blocks = blocks.iter().map(|columns| self.block(columns, &widths));
        blocks.collect::<Vec<_>>().join("\n")
    }

    fn lines(&self) -> impl Iterator<Item = &Vec<String>> {
        std::iter::once(&self.head).chain(&self.rows)
    }

    fn widths(&self) -> Vec<usize> {
        let of_column = |column: usize| {
            let cells = self.lines().filter_map(|row| row.get(column));
            cells
                .map(|cell| plain(cell).chars().count())
                .max()
                .unwrap_or(0)
        };
        (0..self.head.len()).map(of_column).collect()
    }

    /// Which columns stand beside each other.
    fn blocks(&self, widths: &[usize], width: usize) -> Vec<Vec<usize>> {
        let taken = |columns: &[usize]| -> usize {
            let gaps = GAP.len() * columns.len().saturating_sub(1);
            columns.iter().map(|column| widths[*column]).sum::<usize>() + gaps
        };
        let mut blocks: Vec<Vec<usize>> = vec![Vec::new()];
        for column in 0..widths.len() {
            let block = blocks.last_mut().expect("invariant: there is a block");
            let has_figures = block.iter().any(|column| !self.is_words(*column));
            block.push(column);
            if has_figures && taken(block) > width {
                block.pop();
                let names = (0..column).filter(|column| self.is_words(*column));
                blocks.push(names.chain([column]).collect());
            }
        }
        blocks
    }

    fn block(&self, columns: &[usize], widths: &[usize]) -> String {
        let mut text = String::new();
        for row in self.lines() {
            let mut line = String::new();
            for (place, column) in columns.iter().enumerate() {
                let (Some(cell), width) = (row.get(*column), widths[*column]) else {
                    continue;
                };
                let cell = plain(cell);
                let gap = if place == 0 { "" } else { GAP };
                if self.is_words(*column) {
                    line.push_str(&format!("{gap}{cell:<width$}"));
                } else {
                    line.push_str(&format!("{gap}{cell:>width$}"));
                }
            }
            // A row that goes on below may have nothing to say here.
            if !line.trim().is_empty() {
                text.push_str(line.trim_end());
                text.push('\n');
            }
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
    fn columns_that_find_no_room_follow_below() {
        let mut table = Table::new(["arm", "failed", "time", "min", "max"]).with_words(&[2]);
        for cells in [
            ["a", "3 (1 %)", "response", "1 ms", "20 ms"],
            ["", "", "service", "1 ms", "2 ms"],
        ] {
            table.rows.push(cells.map(str::to_owned).to_vec());
        }
        assert_eq!(table.to_text_within(37), table.to_text());
        insta::assert_snapshot!(table.to_text_within(30), @r"
        arm   failed  time       min
        a    3 (1 %)  response  1 ms
                      service   1 ms

        arm  time        max
        a    response  20 ms
             service    2 ms
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
