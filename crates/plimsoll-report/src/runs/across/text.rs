//! Comparisons of runs for the terminal.

use super::{Across, Needed, Other};
use crate::record::{Difference, Statistic};
use crate::render::{conclusion, interval, signed_time, text_table};
use plimsoll_base::units::format_seconds;

/// A table of differences, and what belongs beside it.
#[must_use]
pub fn render(across: &Across) -> String {
    let head = format!("beside {}", across.baseline);
    let mut rows: Vec<Vec<String>> = Vec::new();
    for other in &across.others {
        rows.extend(
            other
                .differences
                .iter()
                .map(|(figure, found)| row(other, *figure, found)),
        );
    }
    let mut text = String::new();
    if !rows.is_empty() {
        let heads = [
            head.as_str(),
            "",
            "difference",
            "95 % interval",
            "p",
            "conclusion",
        ];
        text.push_str(&text_table(&heads, rows));
    }
    let why_not = across.others.iter().filter_map(|other| {
        let why = other.why_not.as_ref()?;
        Some(format!("{}: {why}", other.label))
    });
    let lines: Vec<String> = why_not.chain(across.notes.iter().cloned()).collect();
    text + &lines
        .iter()
        .map(|line| format!("  {line}\n"))
        .collect::<String>()
}

fn row(other: &Other, figure: Statistic, found: &Difference) -> Vec<String> {
    vec![
        other.label.clone(),
        figure.label().to_owned(),
        signed_time(found.value),
        interval(found),
        found.p.map_or_else(String::new, p),
        conclusion(found),
    ]
}

fn p(p: f64) -> String {
    if p < 0.001 {
        "< 0.001".to_owned()
    } else {
        format!("{p:.3}")
    }
}

/// Blocks that an effect takes, figure by figure.
#[must_use]
pub fn render_needed(needed: &[Needed], effect: f64) -> String {
    if needed.is_empty() {
        return "nothing is known of the spread: it takes a run of two blocks or more\n".to_owned();
    }
    let rows = needed.iter().map(|one| {
        vec![
            one.figure.label().to_owned(),
            one.blocks
                .map_or_else(|| "more than 1,000".to_owned(), |blocks| blocks.to_string()),
            format_seconds(one.deviation),
            format!(
                "{} blocks find {}",
                one.from_blocks,
                format_seconds(one.minimum_detectable)
            ),
        ]
    });
    let title = format!("blocks for {}", format_seconds(effect));
    text_table(
        &["figure", &title, "deviation of a block", "what it is from"],
        rows.collect(),
    )
}
