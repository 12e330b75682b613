//! The capacity curve of each arm with its bounds, its annotations, and its trials.

mod resources;

use super::axis::{self, Axis};
use super::over_time::{LEFT, WIDTH};
use super::plot::{self, Canvas, Pen, Plot};
use super::style::{self, AXIS, FAILED, LABEL};
use super::{arms, figure, sentence};
use crate::capacity::conclude::format_rate;
use crate::capacity::judge::objective_words;
use crate::record::{
    Band, CapacitySummary, Limit, LoadClass, Scalability, Trial, TrialOutcome, TrialPurpose,
};
use crate::render::figures::capacity::{capacities, trials};
use crate::render::rates::{self, PerIteration};
use crate::render::table::Table;
use crate::render::view::RunView;
use crate::render::words::number;
use maud::{Markup, html};
use plimsoll_base::units::format_seconds;

const HEIGHT: u32 = 240;

pub(super) fn section(view: &RunView) -> Markup {
    let searched: Vec<(usize, &str, &CapacitySummary)> = view
        .summary
        .arms
        .iter()
        .enumerate()
        .filter_map(|(index, (name, arm))| Some((index, name.as_str(), arm.capacity.as_ref()?)))
        .collect();
    let Some(table) = capacities(&view.summary) else {
        return Markup::default();
    };
    let objective = searched
        .first()
        .map(|(_, _, found)| objective_words(&found.objective))
        .unwrap_or_default();
    let content = html! {
        (arms::table(&table))
        @for (index, name, found) in &searched { (search(*index, name, found, per_iteration(view, name))) }
    };
    super::section(
        "Capacity",
        &format!(
            "The highest rate that meets the objective ({objective}) lies between the two bounds. A trial is void, and says nothing, where the generator failed a criterion of validity on which its outcome rests."
        ),
        content,
    )
}

fn per_iteration(view: &RunView, arm: &str) -> PerIteration {
    let arm = &view.summary.arms[arm];
    PerIteration::of_arm(arm)
}

fn search(
    index: usize,
    name: &str,
    found: &CapacitySummary,
    per_iteration: PerIteration,
) -> Markup {
    html! {
        h3 { span class={ "swatch " (style::class(index)) } {} (name) }
        p { (sentence(&found.sentence)) }
        @if found.trials.len() > 1 {
            (figure(throughput(index, found, per_iteration), &format!("Good answers over what was offered, trial by trial. Shaded: between the bounds. Filled: good; red: bad; ring-like grey: straddling or void; straight grey line: as much answered as offered.{}", rates::axes(per_iteration.is_several()))))
            @if let Some(limit) = found.objective.limits.last() {
                (figure(times(index, found, *limit), "The limited figure over the rate, on a logarithmic axis, with the intervals of its trials. Grey line: its limit."))
            }
            (resources::panel(found))
        }
        ul.notes {
            @if let Some(knee) = &found.knee {
                li { "Knee of the curve (Kneedle; a drawing aid, no verdict): " (format_rate(knee.rate_per_s)) "/s, " (format_rate(knee.low_per_s)) " to " (format_rate(knee.high_per_s)) "/s when any one rate is left out." }
            }
            @if let Some(law) = &found.scalability { li { (scalability(law)) } }
            @for note in &found.notes { li { (sentence(note)) } }
        }
        details { summary { (found.trials.len()) " trials" } div.dense { (arms::table(&trials(found, per_iteration))) } }
        details { summary { (found.loads.len()) " rates, each with what follows from its trials" } (arms::table(&loads(&found.loads, per_iteration))) }
    }
}

fn scalability(law: &Scalability) -> String {
    let band = |band: &Band, digits: usize| {
        format!(
            "{:.digits$} ({:.digits$} to {:.digits$})",
            band.value, band.low, band.high
        )
    };
    format!(
        "Universal Scalability Law: γ {}, α {}, β {}; its peak is at {}/s.",
        band(&law.gamma, 1),
        band(&law.alpha, 4),
        band(&law.beta, 6),
        band(&law.peak_per_s, 1)
    )
}

fn loads(loads: &[LoadClass], per_iteration: PerIteration) -> Table {
    let rate = rates::rate_head(per_iteration.is_several());
    let mut table = Table::new([rate, "class", "good", "bad", "void"]).with_words(&[1]);
    for load in loads {
        table.rows.push(vec![
            format_rate(load.rate_per_s),
            load.class.name().to_owned(),
            format_seconds(load.good_s),
            format_seconds(load.bad_s),
            load.voids.to_string(),
        ]);
    }
    table
}

/// Trials at a rate near enough to the bounds to be told apart from them; doublings lie far to the left.
fn x_axis(found: &CapacitySummary) -> Axis {
    let rates = || found.trials.iter().map(|trial| trial.rate_per_s);
    let top = rates().fold(0.0, f64::max);
    Axis::linear(0.0, top * 1.04, 8, |rate| {
        format!("{}/s", number(Some(rate)))
    })
}

fn shade(canvas: &mut Canvas<'_>, found: &CapacitySummary) {
    if let (Some(lower), Some(upper)) = (found.lower_per_s, found.upper_per_s) {
        plot::band(canvas, lower, upper);
    }
    if let Some(knee) = &found.knee {
        let height = canvas.y_range();
        let line = [
            (knee.rate_per_s, height.start),
            (knee.rate_per_s, height.end),
        ];
        let pen = Pen {
            colour: LABEL,
            width: 1.0,
            opacity: 0.5,
        };
        plot::line(canvas, &line, pen);
    }
}

fn mark(canvas: &mut Canvas<'_>, index: usize, trial: &Trial, at: (f64, f64)) {
    let (colour, opacity) = match (trial.purpose, trial.outcome) {
        (TrialPurpose::Overload, _) => (FAILED, 0.4),
        (_, TrialOutcome::Good) => (style::colour(index), 0.9),
        (_, TrialOutcome::Bad) => (FAILED, 0.9),
        (_, TrialOutcome::Straddling | TrialOutcome::Void) => (AXIS, 0.9),
    };
    let radius = if trial.purpose == TrialPurpose::Confirmation {
        6
    } else {
        4
    };
    plot::dot(canvas, at, radius, colour, opacity);
}

fn throughput(index: usize, found: &CapacitySummary, per_iteration: PerIteration) -> Markup {
    let achieved = |trial: &Trial| match trial.purpose {
        TrialPurpose::Overload => Some(trial.bearing.good_per_s),
        TrialPurpose::Search | TrialPurpose::Confirmation => trial.good_per_s,
    };
    let top = found
        .trials
        .iter()
        .map(|trial| trial.rate_per_s)
        .fold(0.0, f64::max);
    let highest = found.trials.iter().filter_map(achieved).fold(0.0, f64::max);
    let plot = Plot {
        size: (WIDTH, HEIGHT),
        title: "Capacity curve".to_owned(),
        description: "Exchanges answered per second over the rate that was offered, with the bounds of capacity.".to_owned(),
        left: LEFT,
        x: x_axis(found),
        y: Axis::linear(0.0, highest * 1.12, 5, |rate| format!("{}/s", number(Some(rate)))),
    };
    plot.draw(|canvas| {
        shade(canvas, found);
        // Up to where the chart ends.
        let even = top.min(highest * 1.12 / per_iteration.exchanges(1.0));
        let pen = Pen {
            colour: AXIS,
            width: 1.4,
            opacity: 0.8,
        };
        plot::line(
            canvas,
            &[(0.0, 0.0), (even, per_iteration.exchanges(even))],
            pen,
        );
        for trial in &found.trials {
            if let Some(achieved) = achieved(trial) {
                mark(canvas, index, trial, (trial.rate_per_s, achieved));
            }
        }
    })
}

fn times(index: usize, found: &CapacitySummary, limit: Limit) -> Markup {
    let of = |trial: &Trial| {
        let seen = trial.found.iter().find(|seen| seen.figure == limit.figure);
        seen.copied()
            .filter(|_| trial.purpose != TrialPurpose::Overload)
    };
    let seen = || {
        found
            .trials
            .iter()
            .filter_map(of)
            .filter_map(|seen| seen.value)
    };
    let values: Vec<f64> = seen().filter(|value| *value > 0.0).collect();
    if values.is_empty() {
        return Markup::default();
    }
    let low = values.iter().copied().fold(limit.at_most_s, f64::min);
    let high = values.iter().copied().fold(limit.at_most_s, f64::max);
    let plot = Plot {
        size: (WIDTH, HEIGHT),
        title: format!("{} over the rate", limit.figure.label()),
        description: "The limited figure of each trial over the rate that was offered.".to_owned(),
        left: LEFT,
        x: x_axis(found),
        y: Axis::logarithmic(low / 1.6, high * 1.6, axis::log_seconds),
    };
    plot.draw(|canvas| {
        shade(canvas, found);
        let height = limit.at_most_s.log10();
        let top = found
            .trials
            .iter()
            .map(|trial| trial.rate_per_s)
            .fold(0.0, f64::max);
        let pen = Pen {
            colour: AXIS,
            width: 1.6,
            opacity: 1.0,
        };
        plot::line(canvas, &[(0.0, height), (top * 1.04, height)], pen);
        for trial in &found.trials {
            let Some(seen) = of(trial) else { continue };
            let Some(value) = seen.value.filter(|value| *value > 0.0) else {
                continue;
            };
            if let (Some(low), Some(high)) = (seen.low, seen.high) {
                let interval = [
                    (trial.rate_per_s, low.log10()),
                    (trial.rate_per_s, high.log10()),
                ];
                plot::line(
                    canvas,
                    &interval,
                    Pen {
                        colour: LABEL,
                        width: 1.0,
                        opacity: 0.6,
                    },
                );
            }
            mark(canvas, index, trial, (trial.rate_per_s, value.log10()));
        }
    })
}
