//! Metrics as text of Prometheus' exposition format, version 0.0.4.

use super::{BOUNDS, Buckets, Data, Family, Point};
use std::fmt::{Display, Write as _};

/// The type of the text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Every metric's name begins with this.
const PREFIX: &str = "plimsoll";

/// Renders the families.
#[must_use]
pub fn render(families: &[Family]) -> String {
    let mut text = String::new();
    for family in families {
        let name = name(family);
        let kind = match &family.data {
            Data::Counter(_) => "counter",
            Data::Gauge(_) => "gauge",
            Data::Histogram(_) => "histogram",
        };
        push(
            &mut text,
            format_args!("# HELP {name} {}\n# TYPE {name} {kind}\n", family.help),
        );
        match &family.data {
            Data::Counter(points) | Data::Gauge(points) => {
                for point in points {
                    sample(&mut text, &name, &point.labels, None, point.value);
                }
            }
            Data::Histogram(points) => {
                points
                    .iter()
                    .for_each(|point| histogram(&mut text, &name, point));
            }
        }
    }
    text
}

/// `arrivals.offered` as `plimsoll_arrivals_offered_total`.
fn name(family: &Family) -> String {
    let base = format!("{PREFIX}_{}", family.name.replace('.', "_"));
    match family.data {
        Data::Counter(_) => base + "_total",
        Data::Gauge(_) => base,
        Data::Histogram(_) => base + "_seconds",
    }
}

fn histogram(text: &mut String, name: &str, point: &Point<Buckets>) {
    let mut below = 0;
    let bounds = BOUNDS.iter().map(|bound| Some(*bound)).chain([None]);
    let bucket = format!("{name}_bucket");
    for (bound, count) in bounds.zip(point.value.counts) {
        below += count;
        let bound = bound.map_or_else(|| "+Inf".to_owned(), |bound| bound.to_string());
        sample(text, &bucket, &point.labels, Some(&bound), below);
    }
    sample(
        text,
        &format!("{name}_sum"),
        &point.labels,
        None,
        point.value.sum,
    );
    sample(text, &format!("{name}_count"), &point.labels, None, below);
}

fn sample(
    text: &mut String,
    name: &str,
    labels: &[(&'static str, String)],
    bound: Option<&str>,
    value: impl Display,
) {
    let labels = labels.iter().map(|(key, value)| (*key, value.as_str()));
    let labels: Vec<String> = labels
        .chain(bound.map(|bound| ("le", bound)))
        .map(|(key, value)| format!("{key}=\"{}\"", escape(value)))
        .collect();
    push(
        text,
        format_args!("{name}{{{}}} {value}\n", labels.join(",")),
    );
}

fn push(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what)
        .expect("invariant: writing to memory does not fail");
}

fn escape(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::super::tests::times;
    use super::super::{Gauges, Observation, Totals};
    use super::*;
    use plimsoll_base::outcome_class::OutcomeClass;
    use plimsoll_base::reason::Reason;
    use plimsoll_base::tally::{ClassTally, GroupTally, StepTally};
    use plimsoll_base::time_kind::TimeKind;

    #[test]
    fn one_second_as_text() {
        let passed = ClassTally {
            count: 3,
            times: [(TimeKind::ResponseTime, times(&[150, 180, 1_500]))].into(),
            ..ClassTally::default()
        };
        let step = StepTally {
            sent: 5,
            in_flight: 1,
            classes: [
                (OutcomeClass::Passed, passed),
                (
                    OutcomeClass::Refused,
                    ClassTally {
                        count: 1,
                        ..ClassTally::default()
                    },
                ),
            ]
            .into(),
            reasons: [(Reason::ConnectionRefused, 1)].into(),
            ..StepTally::default()
        };
        let group = GroupTally {
            count: 2,
            failed: 1,
            duration: times(&[700, 7_000]),
            response_time: times(&[300, 3_000]),
        };
        let mut totals = Totals::default();
        totals.observe(Observation {
            arm: "main",
            warmup: false,
            offered: 6,
            sent: 5,
            dropped: 1,
            connected: 4,
            reconnected: 1,
            gauges: Some(Gauges {
                active_users: 2,
                in_flight: 1,
                waiting: 0,
                connections: 4,
            }),
            iterations: &[(TimeKind::PacingLag, times(&[20]))].into(),
            steps: &[("a \"b\"\n", &step)],
            groups: &[("buy".to_owned(), group)].into(),
        });
        insta::assert_snapshot!(render(&totals.families()));
    }
}
