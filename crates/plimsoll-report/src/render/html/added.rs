//! Differences of each arm from the baseline: every block's as a dot, their mean and its interval as a bar.

use super::axis::{self, Axis};
use super::plot::{self, Pen, Plot};
use super::style::{self, AXIS};
use crate::record::{Added, ArmSummary, BlockSummary, Difference, Statistic, Summary};
use crate::render::view::RunView;
use crate::render::words::{
    comparison_method, conclusion, figure_label, has_differences, interval, signed_time,
};
use maud::{Markup, html};

/// A figure whose differences are drawn.
struct Drawn {
    name: &'static str,
    /// The figure of a block, if it enters a difference.
    of: fn(&BlockSummary) -> Option<f64>,
}

const DRAWN: [Drawn; 3] = [
    Drawn {
        name: "p50",
        of: |block| time(block, Statistic::P50),
    },
    Drawn {
        name: "p99",
        of: |block| time(block, Statistic::P99),
    },
    Drawn {
        name: Added::CPU,
        of: |block| {
            block
                .cpu_s_per_exchange
                .filter(|_| !block.void_for.contains(&Statistic::Mean))
        },
    },
];

fn time(block: &BlockSummary, statistic: Statistic) -> Option<f64> {
    let figure = block.response_time.get(statistic);
    figure.filter(|_| !block.void_for.contains(&statistic))
}

impl Drawn {
    fn found<'a>(&self, arm: &'a ArmSummary) -> Option<&'a Difference> {
        let mut all = arm.added.as_ref()?.all();
        let (_, found) = all.find(|(name, _)| *name == self.name)?;
        Some(found)
    }

    /// The differences of the blocks that carry the figure in both arms.
    fn differences(&self, arm: &ArmSummary, base: &ArmSummary) -> Vec<f64> {
        let of_base = |block| base.by_block.iter().find(|b| b.block == block);
        arm.by_block
            .iter()
            .filter_map(|own| Some((self.of)(own)? - (self.of)(of_base(own.block)?)?))
            .collect()
    }
}

pub(super) fn section(view: &RunView) -> Markup {
    let summary = &view.summary;
    let Some(comparison) = &summary.comparison else {
        return Markup::default();
    };
    let content = html! {
        @if has_differences(summary) {
            (strips(summary, &comparison.baseline))
            details { summary { "All figures" } (all_figures(summary)) }
        }
    };
    let title = format!("Added to {}", comparison.baseline);
    super::section(
        &title,
        &comparison_method(summary).unwrap_or_default(),
        content,
    )
}

fn strips(summary: &Summary, baseline: &str) -> Markup {
    let Some(base) = summary.arms.get(baseline) else {
        return Markup::default();
    };
    html! {
        div.scroll tabindex="0" {
            table {
                thead { tr {
                    th.w scope="col" { "arm" } th.w scope="col" { "figure" }
                    th.w scope="col" { "difference in each block, mean and interval" }
                    th scope="col" { "difference" } th.w scope="col" { "conclusion" }
                } }
                tbody {
                    @for drawn in &DRAWN {
                        @let range = range(summary, base, drawn);
                        @for (index, (name, arm)) in summary.arms.iter().enumerate() {
                            @if let Some(found) = drawn.found(arm) {
                                tr {
                                    th.name scope="row" { (name) }
                                    td.w { (figure_label(drawn.name)) }
                                    td.strip { (strip(&drawn.differences(arm, base), found, range, style::colour(index))) }
                                    td { (signed_time(found.value)) br; span.sub { (interval(found)) } }
                                    td.w.wrap { (concluded(found)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn concluded(difference: &Difference) -> Markup {
    let words = conclusion(difference);
    let name = difference.verdict.name();
    let rest = words
        .strip_prefix(name)
        .unwrap_or("")
        .trim_start_matches(':')
        .trim();
    html! {
        span class={ "chip " (name) } { (name) }
        @if !rest.is_empty() { " " span.sub { (rest) } }
    }
}

/// One range for all arms, so that strips can be compared: zero and everything drawn.
fn range(summary: &Summary, base: &ArmSummary, drawn: &Drawn) -> (f64, f64) {
    let others = summary.arms.values().filter_map(|arm| {
        let found = drawn.found(arm)?;
        let mut values = drawn.differences(arm, base);
        values.extend([found.low, found.high, found.margin, -found.margin]);
        Some(values)
    });
    let (low, high) = others
        .flatten()
        .fold((0.0_f64, 0.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
    let room = (high - low).max(1e-6) * 0.06;
    (low - room, high + room)
}

fn strip(
    differences: &[f64],
    found: &Difference,
    (low, high): (f64, f64),
    colour: plotters::style::RGBColor,
) -> Markup {
    let plot = Plot {
        size: (350, 60),
        title: "Differences per block".to_owned(),
        description: format!(
            "Mean {}, interval {}.",
            signed_time(found.value),
            interval(found)
        ),
        left: 6,
        x: Axis::linear(low, high, 6, axis::seconds),
        y: Axis {
            low: -1.0,
            high: 1.0,
            ticks: Vec::new(),
            label: axis::seconds,
        },
    };
    plot.draw(|canvas| {
        plot::band(canvas, -found.margin, found.margin);
        let pen = |colour, width, opacity| Pen {
            colour,
            width,
            opacity,
        };
        plot::line(canvas, &[(0.0, -1.0), (0.0, 1.0)], pen(AXIS, 1.0, 1.0));
        plot::line(
            canvas,
            &[(found.low, -0.35), (found.high, -0.35)],
            pen(colour, 3.0, 1.0),
        );
        plot::line(
            canvas,
            &[(found.value, -0.75), (found.value, 0.05)],
            pen(colour, 2.0, 1.0),
        );
        for difference in differences {
            plot::dot(canvas, (*difference, 0.5), 4, colour, 0.6);
        }
    })
}

fn all_figures(summary: &Summary) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                thead { tr {
                    th.w scope="col" { "arm" } th.w scope="col" { "figure" } th scope="col" { "difference" }
                    th scope="col" { "95 % interval" } th.w scope="col" { "conclusion" }
                } }
                tbody {
                    @for (name, arm) in &summary.arms {
                        @for (figure, found) in arm.added.iter().flat_map(Added::all) {
                            tr {
                                th.name scope="row" { (name) }
                                td.w { (figure_label(figure)) }
                                td { (signed_time(found.value)) }
                                td { (interval(found)) }
                                td.w.wrap { (concluded(found)) }
                            }
                        }
                    }
                }
            }
        }
    }
}
