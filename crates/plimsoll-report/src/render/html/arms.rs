//! Arms side by side; tables of texts as HTML.

use super::sentence;
use crate::render::figures;
use crate::render::rates;
use crate::render::table::Table;
use crate::render::view::RunView;
use crate::render::words::mark_legend;
use maud::{Markup, html};

pub(super) fn section(view: &RunView) -> Markup {
    let summary = &view.summary;
    let legend = mark_legend(summary);
    let said = rates::said(summary);
    let notes: Vec<(&String, &String)> = summary
        .arms
        .iter()
        .flat_map(|(name, arm)| arm.notes.iter().map(move |note| (name, note)))
        .collect();
    let content = html! {
        (table(&figures::arms(summary)))
        @if !legend.is_empty() || !notes.is_empty() || !said.is_empty() {
            ul.notes {
                @for said in &said { li { (said) } }
                @if !legend.is_empty() { li { (legend) } }
                @for (name, note) in notes { li { (name) ": " (sentence(note)) } }
            }
        }
    };
    super::section(
        "Arms side by side",
        "Response time runs from the intended start of an exchange to its last byte: waiting behind a slow answer is part of it. Service time runs from the first byte sent and leaves the waiting out: what tools report that do not correct for it.",
        content,
    )
}

/// A table of texts as HTML: names in the first column, figures and sentences in the others.
pub(super) fn table(table: &Table) -> Markup {
    let class = |column| if table.is_words(column) { "w" } else { "" };
    html! {
        div.scroll tabindex="0" {
            table {
                thead { tr { @for (column, head) in table.head.iter().enumerate() { th class=(class(column)) scope="col" { (head) } } } }
                tbody {
                    @for row in &table.rows {
                        // A row without a name goes on where the one above it ended.
                        tr class=[row.first().filter(|name| name.is_empty()).map(|_| "more")] {
                            @for (column, cell) in row.iter().enumerate() {
                                @if column == 0 { th.name scope="row" { (cell) } }
                                @else { td class=(class(column)) { (sentence(cell)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
