//! One line per arm and block, and one per arm and step, and two per arm and group of steps over all blocks, for spreadsheets and for tools that follow figures over
//! time (RFC 4180; times in seconds; columns as in `docs/results.md`).

use crate::record::{Statistic, TimeStatistics};
use crate::view::RunView;

/// The time of blocks and steps.
const RESPONSE: &str = "response_time";

/// The parts of a step's service time, which have columns of their own.
const PARTS: [&str; 2] = ["first_byte_time", "body_time"];

/// Their figures.
const OF_PARTS: [Statistic; 4] = [
    Statistic::Mean,
    Statistic::P50,
    Statistic::P95,
    Statistic::P99,
];

/// Renders the figures of every block, of all steps together, and of every step, of all blocks together.
#[must_use]
pub fn render(view: &RunView) -> String {
    let mut text =
        "experiment,started_at,arm,block,step,achieved_per_s,failed,count,min,deviation".to_owned();
    for statistic in Statistic::ALL {
        text.push(',');
        text.push_str(statistic.name());
    }
    text.push_str(",max,group,time");
    for part in PARTS {
        for statistic in OF_PARTS {
            text.push_str(&format!(",{part}_{}", statistic.name()));
        }
    }
    text.push_str("\r\n");
    for (name, arm) in &view.summary.arms {
        let mut line =
            |place: [String; 2], achieved_per_s, failed: u64, (group, time, times), parts| {
                let mut cells = vec![
                    quote(&view.summary.experiment),
                    quote(&view.manifest.started_at),
                    quote(name),
                ];
                cells.extend(place);
                cells.extend([optional(achieved_per_s), failed.to_string()]);
                cells.extend(figures(times));
                cells.extend([quote(group), String::from(time)]);
                cells.extend(of_parts(parts));
                text.push_str(&cells.join(","));
                text.push_str("\r\n");
            };
        for block in &arm.by_block {
            let place = [block.block.to_string(), String::new()];
            line(
                place,
                block.achieved_per_s,
                block.failed,
                ("", RESPONSE, &block.response_time),
                None,
            );
        }
        for (name, step) in &arm.by_step {
            let place = [String::new(), quote(name)];
            let times = ("", RESPONSE, &step.response_time);
            let parts = Some([&step.first_byte_time, &step.body_time]);
            line(place, step.achieved_per_s, step.failed, times, parts);
        }
        for (name, group) in &arm.by_group {
            for (time, times) in [
                ("duration", &group.duration),
                ("cumulated_response_time", &group.cumulated_response_time),
            ] {
                let place = [String::new(), String::new()];
                let times = (name.as_str(), time, times);
                line(place, group.achieved_per_s, group.failed, times, None);
            }
        }
    }
    text
}

/// The figures of both parts; empty cells where a row has none.
fn of_parts(parts: Option<[&TimeStatistics; 2]>) -> Vec<String> {
    let Some(parts) = parts else {
        return vec![String::new(); PARTS.len() * OF_PARTS.len()];
    };
    let figures = parts.into_iter().flat_map(|times| {
        OF_PARTS
            .into_iter()
            .map(|statistic| optional(times.get(statistic)))
    });
    figures.collect()
}

fn figures(times: &TimeStatistics) -> Vec<String> {
    let mut cells = vec![
        times.count.to_string(),
        optional(times.min),
        optional(times.deviation),
    ];
    cells.extend(Statistic::ALL.map(|statistic| optional(times.get(statistic))));
    cells.push(optional(times.max));
    cells
}

fn optional(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A text cell. One that a spreadsheet would take for a formula gets a leading apostrophe.
fn quote(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        "'"
    } else {
        ""
    };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{guard}{}\"", text.replace('"', "\"\""))
    } else {
        format!("{guard}{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn cells() {
        for (text, expected) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=1+1", "'=1+1"),
        ] {
            assert_eq!(quote(text), expected);
        }
    }
}
