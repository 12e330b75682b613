//! Every figure of every step, for who wants to look one up.

use super::arms;
use crate::render::figures;
use crate::view::RunView;
use maud::{Markup, html};

pub(super) fn section(view: &RunView) -> Markup {
    let table = figures::statistics(&view.summary);
    if table.rows.is_empty() {
        return Markup::default();
    }
    super::section(
        "Statistics",
        "Response times by step, with what failed and what was answered per second.",
        html! { div.dense { (arms::table(&table)) } },
    )
}
