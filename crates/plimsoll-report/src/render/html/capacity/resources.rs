//! Processors that each component used in every trial, under the axis of the capacity curve.

use super::super::axis::Axis;
use super::super::plot::{self, Plot};
use super::super::{figure, legend, style};
use super::{HEIGHT, LEFT, WIDTH, shade, x_axis};
use crate::record::{CapacitySummary, Trial, TrialPurpose};
use crate::render::words::number;
use indexmap::IndexSet;
use maud::{Markup, html};

/// Nothing where no trial has a component whose processors were counted.
pub(super) fn panel(found: &CapacitySummary) -> Markup {
    let mut names = IndexSet::new();
    for (component, _) in found.trials.iter().flat_map(used) {
        names.insert(component);
    }
    if names.is_empty() {
        return Markup::default();
    }
    let caption = "What each component used of the processors that it may use, trial by trial, as a mean. Near 100 % it is what gives way, or near to it.";
    html! {
        (legend(names.iter().copied()))
        (figure(draw(found, &names), caption))
    }
}

/// Components with the share of their processors that they used. An overload is left out: its means hold the recovery too.
fn used(trial: &Trial) -> impl Iterator<Item = (&str, f64)> {
    let counts = trial.purpose != TrialPurpose::Overload;
    let components = trial.components.iter().filter(move |_| counts);
    components.filter_map(|(name, component)| {
        let limit = component.strain.cpu_limit_cores?;
        Some((name.as_str(), component.cpu_cores_mean? / limit))
    })
}

fn draw(found: &CapacitySummary, names: &IndexSet<&str>) -> Markup {
    let shares = found.trials.iter().flat_map(used);
    let top = shares.map(|(_, share)| share).fold(1.0, f64::max);
    let plot = Plot {
        size: (WIDTH, HEIGHT),
        title: "Processors over the rate".to_owned(),
        description:
            "The share of its processors that each component used, over the rate that was offered."
                .to_owned(),
        left: LEFT,
        x: x_axis(found),
        y: Axis::linear(0.0, top * 1.08, 5, |share| {
            format!("{} %", number(Some(100.0 * share)))
        }),
    };
    plot.draw(|canvas| {
        shade(canvas, found);
        for trial in &found.trials {
            for (component, share) in used(trial) {
                if let Some(index) = names.get_index_of(component) {
                    let at = (trial.rate_per_s, share);
                    plot::dot(canvas, at, 4, style::colour(index), 0.9);
                }
            }
        }
    })
}
