//! Resources of each component, on the same time axis as the load.

use super::axis::Axis;
use super::over_time::{LEFT, WIDTH, backdrop, time_axis};
use super::plot::{self, Pen, Plot};
use super::{arms, style};
use crate::record::{ComponentRow, SeriesRow};
use crate::render::view::RunView;
use crate::render::{figures, strain};
use maud::{Markup, html};
use plimsoll_base::units::format_bytes;

const HEIGHT: u32 = 190;
const MEBIBYTE: f64 = 1_048_576.0;
/// A component that was not sampled for longer than this, or than this many of its samples, was not running.
const GAP: f64 = 2.5;

pub(super) fn section(view: &RunView) -> Markup {
    let components = by_component(view);
    let table = figures::components(&view.summary);
    if components.is_empty() && table.is_none() {
        return Markup::default();
    }
    let content = html! {
        @if !components.is_empty() {
            (super::legend(components.iter().map(|(name, _)| *name)))
            h3 { "CPU, in cores" }
            div.scroll tabindex="0" { figure { (chart(view, &components, &CPU)) } }
            @for quantity in IF_ANY.iter().filter(|quantity| any(&components, quantity)) {
                h3 { (quantity.title) }
                div.scroll tabindex="0" { figure { (chart(view, &components, quantity)) } }
            }
            h3 { "Resident memory" }
            div.scroll tabindex="0" { figure { (chart(view, &components, &MEMORY)) } }
        }
        @if let Some(table) = table { h3 { "Mean CPU in cores under each arm's load" } (arms::table(&table)) }
        @if let Some(table) = strain::components(&view.summary) {
            h3 { "What else may have held them up" }
            p.reading { "Overflows, segments and ports are counted for whole network namespaces: components that share one share them." }
            (arms::table(&table))
        }
        @if let Some(table) = strain::servers(&view.summary) {
            h3 { "What servers say of themselves" }
            (arms::table(&table))
        }
        @if let Some(table) = strain::hosts(&view.summary) { h3 { "The machine" } (arms::table(&table)) }
    };
    super::section(
        "Resources",
        "Sampled once a second per process tree, the generator included.",
        content,
    )
}

/// Quantity of a sample that is drawn.
struct Quantity {
    title: &'static str,
    value: fn(&ComponentRow) -> Option<f64>,
    label: fn(f64) -> String,
}

const CPU: Quantity = Quantity {
    title: "CPU per component over time",
    value: |row| row.cpu_cores,
    label: |cores| format!("{cores:.2}"),
};

#[expect(clippy::cast_precision_loss, reason = "a size to draw")]
const MEMORY: Quantity = Quantity {
    title: "Resident memory per component over time",
    value: |row| Some(row.rss_bytes? as f64 / MEBIBYTE),
    label: |mebibytes| format_bytes(mebibytes * MEBIBYTE),
};

/// Quantities that are drawn only where there was some.
#[expect(clippy::cast_precision_loss, reason = "a count to draw")]
const IF_ANY: [Quantity; 6] = [
    Quantity {
        title: "Threads that waited for a processor, in seconds per second",
        value: |row| Some(row.run_delay),
        label: |share| format!("{share:.2}"),
    },
    Quantity {
        title: "Share of CPU quota periods that were throttled",
        value: |row| row.strain.throttled_share,
        label: |share| format!("{share:.2}"),
    },
    Quantity {
        title: "Connections that waited to be accepted",
        value: |row| row.strain.accept_queue.map(|waiting| waiting as f64),
        label: |count| format!("{count:.0}"),
    },
    Quantity {
        title: "Connections of clients, by the server's own count",
        value: |row| row.server.connections,
        label: |count| format!("{count:.0}"),
    },
    Quantity {
        title: "Sessions that waited for a lock",
        value: |row| row.server.lock_waiters,
        label: |count| format!("{count:.0}"),
    },
    Quantity {
        title: "CPU of the thread that carries out commands",
        value: |row| row.server.main_thread_cores,
        label: |cores| format!("{cores:.2}"),
    },
];
/// Less than this of each of them is nothing.
const SOME: f64 = 0.02;

fn any(components: &[(&str, Vec<&ComponentRow>)], quantity: &Quantity) -> bool {
    let mut rows = components.iter().flat_map(|(_, rows)| rows);
    rows.any(|row| (quantity.value)(row).is_some_and(|value| value > SOME))
}

fn chart(view: &RunView, components: &[(&str, Vec<&ComponentRow>)], quantity: &Quantity) -> Markup {
    let rows = components.iter().flat_map(|(_, rows)| rows);
    let values = rows.filter_map(|row| (quantity.value)(row));
    let top = values.fold(0.0, f64::max);
    let plot = Plot {
        size: (WIDTH, HEIGHT),
        title: quantity.title.to_owned(),
        description: "One line per component, over the same time as the load.".to_owned(),
        left: LEFT,
        x: time_axis(view),
        y: Axis::linear(0.0, top * 1.1, 4, quantity.label),
    };
    plot.draw(|canvas| {
        backdrop(canvas, view);
        for (index, (_, rows)) in components.iter().enumerate() {
            let gap = gap(rows);
            for stretch in rows.chunk_by(|a, b| b.t - a.t < gap) {
                let points: Vec<(f64, f64)> = stretch
                    .iter()
                    .filter_map(|row| Some((row.t, (quantity.value)(row)?)))
                    .collect();
                plot::line(
                    canvas,
                    &points,
                    Pen {
                        colour: style::colour(index),
                        width: 1.6,
                        opacity: 1.0,
                    },
                );
            }
        }
    })
}

/// Exporters may have something new less often than once a second.
fn gap(rows: &[&ComponentRow]) -> f64 {
    let between = rows.windows(2).map(|two| two[1].t - two[0].t);
    GAP * between.reduce(f64::min).unwrap_or(1.0).max(1.0)
}

/// Samples by component, in the order of their first appearance; each in order of time.
fn by_component(view: &RunView) -> Vec<(&str, Vec<&ComponentRow>)> {
    let mut components: Vec<(&str, Vec<&ComponentRow>)> = Vec::new();
    for row in &view.series {
        let SeriesRow::Component(row) = row else {
            continue;
        };
        match components
            .iter_mut()
            .find(|(name, _)| *name == row.component)
        {
            Some((_, rows)) => rows.push(row),
            None => components.push((&row.component, vec![row])),
        }
    }
    for (_, rows) in &mut components {
        rows.sort_by(|a, b| a.t.total_cmp(&b.t));
    }
    components
}
