//! What failed, by kind, and what else the reader should know happened.

use super::arms;
use crate::record::EventKind;
use crate::render::figures;
use crate::view::RunView;
use maud::{Markup, html};

pub(super) fn section(view: &RunView) -> Markup {
    let failures = figures::failures_by_kind(&view.summary);
    let told = view.events.iter().filter(|event| {
        matches!(
            event.kind,
            EventKind::ComponentDied | EventKind::Warning | EventKind::Interrupted
        )
    });
    let told: Vec<_> = told.collect();
    let content = html! {
        @if failures.rows.is_empty() { p { "No exchange failed and no arrival was dropped." } }
        @else { (arms::table(&failures)) }
        @if !told.is_empty() {
            h3 { "Events" }
            ul.notes { @for event in &told { li { (format!("{:.1} s", event.t)) " · " (event.message) } } }
        }
    };
    let reading = if failures.rows.is_empty() {
        ""
    } else {
        "An answer whose check failed counts by its status and by its check."
    };
    super::section("Failures by kind", reading, content)
}
