//! One line per arm and block, for spreadsheets and for tools that follow figures over time (RFC 4180; times in seconds).

use crate::record::{BlockSummary, Statistic};
use crate::view::RunView;

/// Renders the figures of every block.
#[must_use]
pub fn render(view: &RunView) -> String {
    let mut text = "experiment,started_at,arm,block,achieved_per_s,failed,count,min".to_owned();
    for statistic in Statistic::ALL {
        text.push(',');
        text.push_str(statistic.name());
    }
    text.push_str(",max\r\n");
    for (name, arm) in &view.summary.arms {
        for block in &arm.by_block {
            let mut cells = vec![
                quote(&view.summary.experiment),
                quote(&view.manifest.started_at),
                quote(name),
            ];
            cells.extend(figures(block));
            text.push_str(&cells.join(","));
            text.push_str("\r\n");
        }
    }
    text
}

fn figures(block: &BlockSummary) -> Vec<String> {
    let times = &block.response_time;
    let mut cells = vec![
        block.block.to_string(),
        optional(block.achieved_per_s),
        block.failed.to_string(),
        times.count.to_string(),
        optional(times.min),
    ];
    cells.extend(Statistic::ALL.map(|statistic| optional(times.get(statistic))));
    cells.push(optional(times.max));
    cells
}

fn optional(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A text cell. One that a spreadsheet would take for a formula gets a leading apostrophe.
fn quote(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        "'"
    } else {
        ""
    };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{guard}{}\"", text.replace('"', "\"\""))
    } else {
        format!("{guard}{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn cells() {
        for (text, expected) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=1+1", "'=1+1"),
        ] {
            assert_eq!(quote(text), expected);
        }
    }
}
