//! Questions of the run, and its answers.

use super::sentence;
use crate::render::view::RunView;
use crate::render::words::bound;
use maud::{Markup, html};

pub(super) fn section(view: &RunView) -> Markup {
    let outcomes = &view.summary.thresholds;
    if outcomes.is_empty() {
        return Markup::default();
    }
    let table = html! {
        div.scroll tabindex="0" {
            table.sentences {
                thead { tr { th.w scope="col" { "threshold" } th.w scope="col" { "result" } th.w scope="col" { "because" } } }
                tbody {
                    @for outcome in outcomes {
                        tr {
                            th.name scope="row" { (outcome.arm) " " (outcome.metric) " " (bound(outcome)) }
                            td.w { span class={ "chip " (outcome.result.name()) } { (outcome.result.name()) } }
                            td.w.wrap { (sentence(&outcome.reason)) }
                        }
                    }
                }
            }
        }
    };
    super::section("Thresholds", "", table)
}
