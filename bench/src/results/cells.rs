//! Lines of a committed table as cells.

/// The cells of a row; `None` for what is none, or the heading.
pub fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.strip_prefix("| ")?.strip_suffix(" |")?;
    let cells: Vec<String> = inner.split(" | ").map(str::to_owned).collect();
    (cells.len() == 8 && cells[0] != "work").then_some(cells)
}
