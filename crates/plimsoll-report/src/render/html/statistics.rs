//! Every figure of every step and of every group of steps, for who wants to look one up.

use super::arms;
use crate::record::MethodName;
use crate::render::figures;
use crate::render::view::RunView;
use maud::{Markup, html};

pub(super) fn section(view: &RunView) -> Markup {
    let table = figures::statistics(&view.summary);
    if table.rows.is_empty() {
        return Markup::default();
    }
    super::section(
        "Statistics",
        match view.summary.method {
            MethodName::Levels => {
                "Response times by step, with what failed and what was answered per second, of all levels together: those of each level stand in summary.json."
            }
            _ => "Response times by step, with what failed and what was answered per second.",
        },
        html! {
            div.dense { (arms::table(&table)) }
            @if let Some(groups) = figures::groups(&view.summary) {
                h3 { "Groups" }
                p.sub { "Duration runs from the beginning of a pass to its end, pauses included; response times are those of its exchanges, added up. A pass in which an exchange failed has failed." }
                div.dense { (arms::table(&groups)) }
            }
        },
    )
}
