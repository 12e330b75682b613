//! Response time breakdown: a bar per arm, and the figures of each part.

use super::arms;
use crate::record::Summary;
use crate::render::composition::{self, Kind, TimePart};
use crate::render::view::RunView;
use crate::render::words::percent;
use maud::{Markup, html};
use std::collections::BTreeSet;

pub(super) fn section(view: &RunView) -> Markup {
    let summary = &view.summary;
    let Some(table) = composition::table(summary) else {
        return Markup::default();
    };
    let content = html! {
        ul.legend {
            @for kind in kinds(summary) { li { span class={ "swatch " (class(kind)) } {} (kind.label()) } }
        }
        div.scroll tabindex="0" {
            table.parts {
                tbody {
                    @for (name, arm) in &summary.arms {
                        tr { th.name scope="row" { (name) } td.bar { (drawn(&composition::of(arm))) } }
                    }
                }
            }
        }
        (arms::table(&table))
        @if let Some(rest) = composition::rest(summary) { p.sub { (rest) } }
    };
    super::section(
        "Response time breakdown",
        "The bar is the mean response time, cut where one part ends and the next begins: the generator's own lag, waiting for a free connection, making one where there was none, then the service time in two parts, up to the first byte of the answer and from there to its last. A part that did not happen has no sample: a connection that was kept was not made again.",
        content,
    )
}

/// The parts that occur, in their order.
fn kinds(summary: &Summary) -> BTreeSet<Kind> {
    let parts = summary.arms.values().flat_map(composition::of);
    parts.map(|part| part.kind).collect()
}

/// The class that gives a part its colour, the same in every report.
fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::PacingLag => "s5",
        Kind::ConnectionWait => "s4",
        Kind::Lookup => "s3",
        Kind::Connect => "s2",
        Kind::Tls => "s1",
        Kind::FirstByte => "s0",
        Kind::Body => "r1",
        Kind::Rest => "rest",
    }
}

fn drawn(parts: &[TimePart<'_>]) -> Markup {
    html! {
        @if parts.is_empty() { span.sub { "not recorded" } }
        @else {
            div.stack {
                @for part in parts.iter().filter(|part| part.share > 0.0) {
                    span class=(class(part.kind)) style=(format!("width:{:.3}%", 100.0 * part.share)) title={ (part.kind.label()) " " (percent(part.share)) } {}
                }
            }
        }
    }
}
