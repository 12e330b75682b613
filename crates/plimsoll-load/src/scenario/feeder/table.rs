//! A table of texts, from CSV or JSON Lines: one buffer for all cells, so that a million rows are one allocation.

use crate::plan::{Format, text::is_value_name};
use serde_json::Value as Json;
use std::collections::HashSet;
use std::fmt;

/// Columns of any table: each may be named in every step.
const MOST_COLUMNS: usize = 10_000;

/// Columns and rows; at least one of each.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<String>,
    cells: Vec<u8>,
    /// Where each cell ends, row by row.
    ends: Vec<usize>,
    rows: u32,
}

/// Why a table cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableError {
    /// Counted from 1.
    pub(crate) line: u64,
    pub(crate) message: String,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl Table {
    /// Reads a table.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub(crate) fn parse(format: Format, text: &str) -> Result<Self, TableError> {
        // Some programs mark UTF-8 so.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let table = match format {
            Format::Csv => csv(text),
            Format::JsonLines => json_lines(text),
        }?;
        if table.rows == 0 {
            let line = 1;
            let message = "there is no row to deal".to_owned();
            return Err(TableError { line, message });
        }
        Ok(table)
    }

    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    pub(super) fn cell(&self, row: u32, column: usize) -> &[u8] {
        let index = row as usize * self.columns.len() + column;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.cells[start..self.ends[index]]
    }

    fn with_columns(columns: Vec<String>) -> Result<Self, TableError> {
        let refused = |message: String| Err(TableError { line: 1, message });
        if columns.len() > MOST_COLUMNS {
            let count = columns.len();
            return refused(format!("there are {count} columns: at most {MOST_COLUMNS}"));
        }
        let mut known = HashSet::new();
        for column in &columns {
            if !is_value_name(column) {
                return refused(format!(
                    "`{column}` cannot name a column: write a letter or `_`, then letters, digits, `_` and `-`"
                ));
            }
            if !known.insert(column) {
                return refused(format!("there are two columns `{column}`: rename one"));
            }
        }
        Ok(Self {
            columns,
            cells: Vec::new(),
            ends: Vec::new(),
            rows: 0,
        })
    }

    fn push(&mut self, cell: &[u8]) {
        self.cells.extend_from_slice(cell);
        self.ends.push(self.cells.len());
    }

    fn end_row(&mut self, line: u64) -> Result<(), TableError> {
        let rows = self.rows.checked_add(1);
        self.rows = rows.ok_or_else(|| TableError {
            line,
            message: "there are more rows than can be counted".to_owned(),
        })?;
        Ok(())
    }
}

fn csv(text: &str) -> Result<Table, TableError> {
    let at = |error: &csv::Error| error.position().map_or(1, csv::Position::line);
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|error| TableError {
        line: at(&error),
        message: error.to_string(),
    })?;
    if headers.is_empty() {
        return Err(TableError {
            line: 1,
            message: "it is empty: the first line names the columns".to_owned(),
        });
    }
    let columns = headers.iter().map(|name| name.trim().to_owned()).collect();
    let mut table = Table::with_columns(columns)?;
    let mut record = csv::StringRecord::new();
    loop {
        let more = reader
            .read_record(&mut record)
            .map_err(|error| TableError {
                line: at(&error),
                message: error.to_string(),
            })?;
        if !more {
            return Ok(table);
        }
        let line = record.position().map_or(1, csv::Position::line);
        if record.len() != table.columns.len() {
            let message = format!(
                "the row has {} cells, and there are {} columns",
                record.len(),
                table.columns.len()
            );
            return Err(TableError { line, message });
        }
        for cell in &record {
            table.push(cell.as_bytes());
        }
        table.end_row(line)?;
    }
}

fn json_lines(text: &str) -> Result<Table, TableError> {
    let mut table = None;
    let lines = (1_u64..).zip(text.lines());
    for (line, text) in lines.filter(|(_, text)| !text.trim().is_empty()) {
        let refused = |message: String| TableError { line, message };
        let object = match serde_json::from_str(text) {
            Ok(Json::Object(object)) => object,
            Ok(_) => return Err(refused("is no JSON object".to_owned())),
            Err(error) => return Err(refused(format!("is not JSON: {error}"))),
        };
        let table = match &mut table {
            Some(table) => table,
            none => none.insert(Table::with_columns(object.keys().cloned().collect())?),
        };
        // No two columns have one name.
        if object.len() > table.columns.len()
            && let Some(other) = object.keys().find(|key| !table.columns.contains(key))
        {
            return Err(refused(format!(
                "has a key `{other}`, which the first line has not"
            )));
        }
        for index in 0..table.columns.len() {
            let column = &table.columns[index];
            let cell = match object.get(column) {
                Some(Json::String(text)) => text.clone(),
                Some(Json::Null) => String::new(),
                Some(other) => other.to_string(),
                None => return Err(refused(format!("has no key `{column}`"))),
            };
            table.push(cell.as_bytes());
        }
        table.end_row(line)?;
    }
    table.ok_or_else(|| TableError {
        line: 1,
        message: "it is empty: every line is a JSON object".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: Format, text: &str, expected: &str) {
        let shown = match Table::parse(format, text) {
            Err(error) => error.to_string(),
            Ok(table) => {
                let cells = |row| {
                    let cells = (0..table.columns().len())
                        .map(|column| String::from_utf8_lossy(table.cell(row, column)));
                    cells.collect::<Vec<_>>().join("|")
                };
                let rows: Vec<String> = (0..table.rows()).map(cells).collect();
                format!("{}: {}", table.columns().join("|"), rows.join(" / "))
            }
        };
        assert_eq!(shown, expected, "{text:?}");
    }

    #[test]
    fn csv_is_read() {
        check(
            Format::Csv,
            "\u{feff}id,name\r\n1,\"a, \"\"b\"\"\"\r\n2,\n",
            "id|name: 1|a, \"b\" / 2|",
        );
        check(
            Format::Csv,
            "",
            "line 1: it is empty: the first line names the columns",
        );
        check(Format::Csv, "id\n", "line 1: there is no row to deal");
        check(
            Format::Csv,
            "id,id\n1,2\n",
            "line 1: there are two columns `id`: rename one",
        );
        check(
            Format::Csv,
            "a b\n1\n",
            "line 1: `a b` cannot name a column: write a letter or `_`, then letters, digits, `_` and `-`",
        );
        check(
            Format::Csv,
            "a,b\n1,2\n3\n",
            "line 3: the row has 1 cells, and there are 2 columns",
        );
    }

    #[test]
    fn tables_may_have_many_columns() {
        let names: Vec<String> = (0..10_000).map(|column| format!("c{column}")).collect();
        let (header, row) = (names.join(","), "1,".repeat(9_999));
        let table = Table::parse(Format::Csv, &format!("{header}\n{row}1\n")).unwrap();
        assert_eq!(table.columns().len(), 10_000);
        let more = Table::parse(Format::Csv, &format!("{header},c7\n")).unwrap_err();
        assert_eq!(
            more.to_string(),
            "line 1: there are 10001 columns: at most 10000"
        );
        let header = header.replace("c9999", "c7");
        let twice = Table::parse(Format::Csv, &format!("{header}\n")).unwrap_err();
        assert_eq!(
            twice.to_string(),
            "line 1: there are two columns `c7`: rename one"
        );
    }

    #[test]
    fn json_lines_are_read() {
        check(
            Format::JsonLines,
            "\u{feff}{\"id\":1,\"x\":\"a\"}\n\n{\"x\":null,\"id\":{\"y\":[2]}}\n",
            "id|x: 1|a / {\"y\":[2]}|",
        );
        check(
            Format::JsonLines,
            "\n",
            "line 1: it is empty: every line is a JSON object",
        );
        check(
            Format::JsonLines,
            "{\"a\":1}\n[]",
            "line 2: is no JSON object",
        );
        check(Format::JsonLines, "{\"a\":1}\n{}", "line 2: has no key `a`");
        check(
            Format::JsonLines,
            "{\"a\":1}\n{\"a\":1,\"b\":2}",
            "line 2: has a key `b`, which the first line has not",
        );
    }
}
