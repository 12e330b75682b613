//! Failures by kind, with when they were seen, and other events that the reader should know of.

use super::{arms, sentence};
use crate::record::{EventKind, EventRow};
use crate::render::figures;
use crate::render::view::RunView;
use maud::{Markup, html};

pub(super) fn section(view: &RunView) -> Markup {
    let failures = figures::failures_seen(&view.summary);
    let checks = figures::checks(&view.summary);
    let others = figures::not_results(&view.summary);
    let told = view.events.iter().filter(|event| {
        matches!(
            event.kind,
            EventKind::ComponentDied
                | EventKind::Warning
                | EventKind::Interrupted
                | EventKind::Aborted
        ) && !is_note(view, event)
    });
    let told: Vec<_> = told.collect();
    let content = html! {
        @if failures.rows.is_empty() && others.rows.is_empty() { p { "No exchange failed and no arrival was dropped." } }
        @if !failures.rows.is_empty() { (arms::table(&failures)) }
        @if !others.rows.is_empty() { h3 { "Without a result" } (arms::table(&others)) }
        @if !checks.rows.is_empty() { h3 { "Checks" } (arms::table(&checks)) }
        @if !told.is_empty() {
            h3 { "Events" }
            ul.notes { @for event in &told { li { (format!("{:.1} s", event.t)) " · " (sentence(&event.message)) } } }
        }
    };
    let reading = if failures.rows.is_empty() {
        ""
    } else {
        "An answer whose check failed counts by its status and by its check. Seen: seconds since the run began, warm-up left out."
    };
    super::section("Failures", reading, content)
}

/// Whether an event is a warning that stands among the notes of its arm already.
fn is_note(view: &RunView, event: &EventRow) -> bool {
    let arms = view.summary.arms.iter();
    let mut notes = arms.flat_map(|(name, arm)| arm.notes.iter().map(move |note| (name, note)));
    event.kind == EventKind::Warning
        && notes.any(|(name, note)| event.message == format!("arm `{name}` {note}"))
}
