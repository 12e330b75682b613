//! Faults: what was broken when, what proves it, and what callers saw meanwhile.

use super::{arms, sentence};
use crate::render::figures::faults::{faults, proofs};
use crate::render::view::RunView;
use maud::{Markup, html};

pub(super) fn section(view: &RunView) -> Markup {
    let Some(table) = faults(&view.summary) else {
        return Markup::default();
    };
    let proofs = proofs(&view.summary);
    let content = html! {
        div.dense { (arms::table(&table)) }
        @if !proofs.is_empty() {
            ul.notes { @for proof in proofs { li { (sentence(&proof)) } } }
        }
    };
    super::section(
        "Faults",
        "Callers' figures are of the whole seconds that a fault touches, from its injection until it is healed; the last row is of all others. \"Proved after\" runs from the injection to the proof of its effect, \"healed after\" from the beginning of the heal to the proof that nothing is left.",
        content,
    )
}
