//! The report as one HTML page that needs nothing else: no script, no font, no picture from elsewhere.
//!
//! One file per section under `html/`; the order of the page is [`render`]. Text from outside reaches the page only through
//! `maud`, which escapes it, and never enters a chart.

mod added;
mod arms;
mod availability;
pub(in crate::render) mod axis;
mod bottleneck;
mod capacity;
mod composition;
mod failures;
mod faults;
mod groups;
mod levels;
mod links;
mod over_time;
pub(in crate::render) mod plot;
mod provenance;
mod ranges;
mod resources;
mod response_times;
mod sentence;
mod statistics;
mod steps;
pub(in crate::render) mod style;
mod thresholds;
mod throughput;
mod trend;
mod validity;
mod verdict;

use crate::record::MethodName;
use crate::render::view::RunView;
use maud::{DOCTYPE, Markup, html};
pub(crate) use sentence::sentence;
pub(crate) use trend::trend;

/// Nothing may be loaded or run; styles stand in the page itself.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Renders the whole page.
#[must_use]
pub fn render(view: &RunView) -> String {
    let title = format!(
        "{} · {} · Plimsoll",
        view.summary.experiment,
        view.summary.verdict.result.name()
    );
    let content = html! {
        (verdict::section(view))
        (bottleneck::section(view))
        (validity::section(view))
        (thresholds::section(view))
        (levels::section(view))
        (capacity::section(view))
        (links::section(view))
        (availability::section(view))
        (faults::section(view))
        @if view.summary.method != MethodName::Levels {
            (arms::section(view))
            (added::section(view))
            (composition::section(view))
            (ranges::section(view))
            (statistics::section(view))
        }
        (failures::section(view))
        (response_times::section(view))
        (over_time::section(view))
        (throughput::section(view))
        (steps::section(view))
        (groups::section(view))
        (resources::section(view))
        (provenance::section(view))
    };
    whole_page(&title, &content)
}

/// A page of this content, which loads nothing.
pub(crate) fn whole_page(title: &str, content: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (maud::PreEscaped(style::sheet())) }
            }
            body { main { (content) } }
        }
    };
    page.into_string()
}

/// A titled section of the page, with one sentence on how to read it.
fn section(title: &str, reading: &str, content: Markup) -> Markup {
    html! {
        section {
            h2 { (title) }
            @if !reading.is_empty() { p.reading { (reading) } }
            (content)
        }
    }
}

/// A chart that scrolls where it does not fit, with a sentence below it.
fn figure(chart: Markup, caption: &str) -> Markup {
    html! {
        div.scroll tabindex="0" { figure { (chart) @if !caption.is_empty() { figcaption { (sentence(caption)) } } } }
    }
}

/// Arms (or components) by their colours.
fn legend<'a>(names: impl IntoIterator<Item = &'a str>) -> Markup {
    html! {
        ul.legend {
            @for (index, name) in names.into_iter().enumerate() {
                li { span class={ "swatch " (style::class(index)) } {} (name) }
            }
        }
    }
}
