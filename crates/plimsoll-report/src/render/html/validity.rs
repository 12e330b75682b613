//! Whether the measurement can be trusted, criterion by criterion.

use super::sentence;
use crate::record::{Effect, ValidityRow};
use crate::render::advice::{Looked, grouped};
use crate::render::view::RunView;
use crate::render::words::{criteria, trust, validity_limit, validity_value};
use maud::{Markup, html};

pub(super) fn section(view: &RunView) -> Markup {
    let rows = &view.summary.validity;
    let speaking = grouped(rows.iter().filter(|row| speaks(row)));
    let content = html! {
        @if !speaking.is_empty() { (table(&speaking)) }
        details { summary { "All " (criteria(rows)) " criteria" } (table(&grouped(rows))) }
    };
    super::section("Validity", &trust(rows), content)
}

/// Whether a row has something to say beyond that it holds.
fn speaks(row: &ValidityRow) -> bool {
    !row.ok || row.effect != Effect::None
}

/// A body of rows for each thing that is looked at, under what they say alike.
fn table(groups: &[Looked<'_>]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table.criteria.sentences {
                thead { tr {
                    th.w scope="col" { "criterion, arm" } th scope="col" { "value" } th scope="col" { "limit" }
                    th.w scope="col" { "ok" } th.w scope="col" { "in this arm" }
                } }
                @for group in groups {
                    tbody {
                        tr {
                            th.w scope="rowgroup" colspan="5" {
                                (group.criterion) " · " (group.name)
                                @if !group.common.is_empty() { p.sub { (sentence(&group.common)) } }
                            }
                        }
                        @for (row, own) in &group.rows { (criterion(row, own)) }
                    }
                }
            }
        }
    }
}

fn criterion(row: &ValidityRow, own: &str) -> Markup {
    let (class, word) = match row.effect {
        Effect::None => ("passed", "yes"),
        Effect::Marked => ("marked", "marked"),
        Effect::Invalid => ("invalid", "no"),
    };
    html! {
        tr.more {
            th.name scope="row" { (row.place()) }
            td { (validity_value(row.value, row)) }
            td { (validity_limit(row)) }
            td.w { span class={ "chip " (class) } { (word) } }
            td.w.wrap.sub { (sentence(own)) }
        }
    }
}
