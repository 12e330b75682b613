//! The box that says what gives way first, with its evidence.

use super::{sentence, style};
use crate::record::{Bottleneck, BottleneckConclusion, Cause};
use crate::render::view::RunView;
use crate::render::words::number;
use maud::{Markup, html};

pub(super) fn section(view: &RunView) -> Markup {
    let arms = view.summary.arms.iter().enumerate();
    let found: Vec<(usize, &String, &Bottleneck)> = arms
        .filter_map(|(index, (name, arm))| Some((index, name, arm.bottleneck.as_ref()?)))
        .collect();
    if found.is_empty() {
        return Markup::default();
    }
    let several = found.len() > 1;
    let content = html! {
        @for (index, name, bottleneck) in found {
            @if several { h3 { span class={ "swatch " (style::class(index)) } {} (name) } }
            (of_one(bottleneck))
        }
    };
    super::section(
        "What gives way first",
        "Causes with the figures that show them, the strongest first. Where none is shown, the cause is unknown: it is not guessed.",
        content,
    )
}

/// One answer.
pub(super) fn of_one(bottleneck: &Bottleneck) -> Markup {
    let class = match bottleneck.conclusion {
        BottleneckConclusion::Found => "failed",
        BottleneckConclusion::NothingGaveWay => "passed",
        BottleneckConclusion::Unknown => "inconclusive",
    };
    html! {
        @if bottleneck.causes.is_empty() {
            p { span class={ "chip " (class) } { (conclusion(bottleneck.conclusion)) } " " (sentence(&bottleneck.statement)) }
        } @else {
            ol.causes { @for one in &bottleneck.causes { li { (cause(one)) } } }
        }
        @if !bottleneck.ruled_out.is_empty() {
            details {
                summary { "Ruled out" }
                ul { @for line in &bottleneck.ruled_out { li { (sentence(line)) } } }
            }
        }
        @if !bottleneck.unseen.is_empty() {
            p.sub { "Not looked at: " (sentence(&bottleneck.unseen.join("; "))) "." }
        }
    }
}

fn conclusion(conclusion: BottleneckConclusion) -> &'static str {
    match conclusion {
        BottleneckConclusion::Found => "found",
        BottleneckConclusion::NothingGaveWay => "nothing gave way",
        BottleneckConclusion::Unknown => "unknown",
    }
}

fn cause(cause: &Cause) -> Markup {
    html! {
        p {
            strong { (cause.kind.words()) @if let Some(component) = &cause.component { ": " (component) } }
            " — " (sentence(&cause.statement))
        }
        ul.sub {
            @for line in &cause.evidence { li { (sentence(line)) } }
            @if let Some(per_s) = cause.predicted_per_s { li { "predicted limit: " (number(Some(per_s))) " exchanges/s" } }
        }
    }
}
