//! Whether the measurement can be trusted, criterion by criterion.

use crate::record::{Effect, ValidityRow};
use crate::render::words::{criteria, trust, validity_limit, validity_value};
use crate::view::RunView;
use maud::{Markup, html};

pub(super) fn section(view: &RunView) -> Markup {
    let rows = &view.summary.validity;
    let all: Vec<&ValidityRow> = rows.iter().collect();
    let speaking: Vec<&ValidityRow> = rows.iter().filter(|row| speaks(row)).collect();
    let content = html! {
        @if !speaking.is_empty() { (table(&speaking)) }
        details { summary { "All " (criteria(rows)) " criteria" } (table(&all)) }
    };
    super::section("Can it be trusted?", &trust(rows), content)
}

/// Whether a row has something to say beyond that it holds.
fn speaks(row: &ValidityRow) -> bool {
    !row.ok || row.effect != Effect::None
}

fn table(rows: &[&ValidityRow]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table.criteria {
                thead { tr {
                    th.w scope="col" { "criterion" } th.w scope="col" { "arm" } th scope="col" { "found" }
                    th scope="col" { "limit" } th.w scope="col" { "holds" } th.w scope="col" { "what to do" }
                } }
                tbody { @for row in rows { (criterion(row)) } }
            }
        }
    }
}

fn criterion(row: &ValidityRow) -> Markup {
    let (class, word) = match row.effect {
        Effect::None => ("passed", "yes"),
        Effect::Marked => ("marked", "marked"),
        Effect::Invalid => ("invalid", "no"),
    };
    html! {
        tr {
            th.name scope="row" { (row.criterion) " · " (row.name) }
            td.w { (row.arm) }
            td { (validity_value(row.value, row)) }
            td { (validity_limit(row)) }
            td.w { span class={ "chip " (class) } { (word) } }
            td.w.wrap.sub { (row.advice) }
        }
    }
}
