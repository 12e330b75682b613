//! Thresholds: bounds on metrics that must hold for a run to pass.

mod metric;

use plimsoll_base::document::{Path as Pointer, suggestion};
use plimsoll_load::plan::Load;
use plimsoll_report::metric::Metric;
use plimsoll_report::record::GENERATOR;
use plimsoll_report::threshold::{Abort, Bound, Threshold};

use super::arm::Arm;
use super::component::Component;
use super::loader::Loader;
use super::method::{Method, Row};
use super::wire::ThresholdWire;
use metric::Names;

/// Names that thresholds may use.
pub(super) struct Scope<'a> {
    /// Arms that could be converted.
    pub arms: &'a [Arm],
    /// All arms of the file.
    pub arm_names: &'a [String],
    /// Components that could be converted.
    pub components: &'a [Component],
    /// How the arms are run.
    pub method: &'a Method,
}

impl Scope<'_> {
    /// The names of levels; none with other methods.
    fn levels(&self) -> Vec<String> {
        match self.method {
            Method::Levels(levels) => levels.points.iter().map(|point| point.name()).collect(),
            Method::Measure
            | Method::Compare { .. }
            | Method::Capacity(_)
            | Method::Sensitivity(_)
            | Method::Availability(_) => Vec::new(),
        }
    }
}

pub(super) fn convert_all(
    loader: &mut Loader<'_>,
    wire: &[ThresholdWire],
    scope: &Scope<'_>,
) -> Vec<Threshold> {
    let at = Pointer::root().key("thresholds");
    let convert =
        |(index, wire): (usize, &ThresholdWire)| convert(loader, wire, scope, &at.index(index));
    wire.iter().enumerate().filter_map(convert).collect()
}

fn convert(
    loader: &mut Loader<'_>,
    wire: &ThresholdWire,
    scope: &Scope<'_>,
    at: &Pointer,
) -> Option<Threshold> {
    let arm = arm_name(loader, wire, scope, at);
    let bound = bound_text(loader, wire, at);
    let arm = scope
        .arms
        .iter()
        .find(|candidate| Some(&candidate.name) == arm.as_ref())?;
    let watched = scope
        .components
        .iter()
        .filter(|component| component.is_looked_at());
    let components: Vec<String> = watched
        .map(|component| component.name.clone())
        .chain([GENERATOR.to_owned()])
        .collect();
    let steps: Vec<String> = arm
        .steps
        .iter()
        .map(|step| step.exchange.name.clone())
        .collect();
    let checks: Vec<Vec<String>> = arm.checks();
    let metric = match metric::parse(
        &wire.metric,
        Names {
            steps: &steps,
            checks: &checks,
            groups: &arm.groups,
            components: &components,
            levels: &scope.levels(),
        },
    ) {
        Ok(metric) => metric,
        Err(message) => {
            loader.refuse(at.key("metric"), message);
            return None;
        }
    };
    if let Some(message) = refuse_difference(&metric, &arm.name, scope.method)
        .or_else(|| refuse_method(&metric, scope.method, arm))
        .or_else(|| refuse_empty(&metric, arm))
    {
        loader.refuse(at.key("metric"), message);
    }
    let abort = abort(loader, wire, &metric, arm, at);
    let (key, text, wrap) = bound?;
    match metric::parse_bound(metric.unit(), text) {
        Ok(value) => Some(Threshold {
            arm: arm.name.clone(),
            metric,
            bound: wrap(value),
            abort,
        }),
        Err(message) => {
            loader.refuse(at.key(key), message);
            None
        }
    }
}

fn arm_name(
    loader: &mut Loader<'_>,
    wire: &ThresholdWire,
    scope: &Scope<'_>,
    at: &Pointer,
) -> Option<String> {
    match (&wire.arm, scope.arm_names) {
        (Some(arm), names) if names.contains(arm) => Some(arm.clone()),
        (Some(arm), names) => {
            loader.refuse(
                at.key("arm"),
                format!("there is no arm `{arm}`: {}", suggestion(arm, names)),
            );
            None
        }
        (None, [only]) => Some(only.clone()),
        (None, _) => {
            loader.refuse(
                at.key("arm"),
                "is missing: write one of the arms, as there are several",
            );
            None
        }
    }
}

/// Seconds that a window may have.
const WINDOW_S: std::ops::RangeInclusive<u32> = 1..=600;
/// Window of a threshold where the file states none.
const DEFAULT_WINDOW_S: u32 = 10;

/// How the threshold ends a load, if it does.
fn abort(
    loader: &mut Loader<'_>,
    wire: &ThresholdWire,
    metric: &Metric,
    arm: &Arm,
    at: &Pointer,
) -> Option<Abort> {
    if !wire.abort.unwrap_or(false) {
        if wire.window.is_some() {
            loader.refuse_key(
                at.key("window"),
                "is how far back `abort: true` looks: add that, or leave `window` out",
            );
        }
        return None;
    }
    if !metric.is_live() {
        let message = format!(
            "`{}` has no value while the load runs: leave `abort` out, or write a metric of its exchanges, such as `response_time.p99` or `failed_share`",
            metric.path()
        );
        loader.refuse(at.key("abort"), message);
        return None;
    }
    let measured = whole_seconds(arm.settings.duration.as_secs_f64());
    let Some(window) = &wire.window else {
        let window_s = DEFAULT_WINDOW_S.min(measured).max(*WINDOW_S.start());
        return Some(Abort { window_s });
    };
    let window_s = whole_seconds(window.as_secs_f64());
    let is_whole = (window.as_secs_f64() - f64::from(window_s)).abs() < 1e-9;
    if !is_whole || !WINDOW_S.contains(&window_s) {
        loader.refuse(at.key("window"), "is whole seconds from 1s to 10m");
    } else if window_s > measured {
        let message = format!("would never be full: the load is measured for {measured} s");
        loader.refuse(at.key("window"), message);
    }
    Some(Abort { window_s })
}

/// The whole seconds of a time.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times of a file are not negative, and what is longer than a u32 is as good as endless"
)]
fn whole_seconds(seconds: f64) -> u32 {
    seconds as u32
}

type Written<'a> = (&'static str, &'a str, fn(f64) -> Bound);

fn bound_text<'a>(
    loader: &mut Loader<'_>,
    wire: &'a ThresholdWire,
    at: &Pointer,
) -> Option<Written<'a>> {
    match (&wire.below, &wire.above) {
        (Some(below), None) => Some(("below", below, Bound::Below)),
        (None, Some(above)) => Some(("above", above, Bound::Above)),
        (Some(_), Some(_)) => {
            loader.refuse_key(
                at.key("above"),
                "a threshold has one bound: write a second threshold for the other",
            );
            None
        }
        (None, None) => {
            loader.refuse(at, "has no bound: add `below` or `above`");
            None
        }
    }
}

/// Why the metric would never have a value in this arm; `None` when it may have one.
fn refuse_empty(metric: &Metric, arm: &Arm) -> Option<String> {
    let path = metric.path();
    if path == "offered_per_s"
        && arm
            .scenarios
            .iter()
            .any(|scenario| matches!(scenario.load, Load::Closed { .. }))
    {
        return Some(
            "nothing is offered per time in a closed model (`users`): write another metric"
                .to_owned(),
        );
    }
    None
}

/// Why the method leaves the metric without a meaning; `None` when it has one.
fn refuse_method(metric: &Metric, method: &Method, arm: &Arm) -> Option<String> {
    let path = metric.path();
    let of_levels = metric.level().is_some();
    let of_search = metric.is_below("capacity");
    if let Some(link) = metric.link() {
        return refuse_link(&path, link, method, arm);
    }
    if metric.is_below("availability") {
        return refuse_outage(&path, metric.fault(), method);
    }
    let is_mixture = metric.time_kind().is_some() || path.ends_with("per_s");
    match method {
        Method::Levels(_) if of_search => Some(format!(
            "`{path}` is found by a search: write `method: {{ capacity: … }}`, or another metric"
        )),
        Method::Levels(levels) if !of_levels && is_mixture => Some(format!(
            "`{path}` would mix all levels: write `levels.{}.{path}`",
            levels
                .points
                .first()
                .map(|point| point.name())
                .unwrap_or_default()
        )),
        Method::Capacity(_) if !of_search => Some(format!(
            "`{path}` belongs to one trial of a search, whose rate is not known in advance: write `capacity` or `capacity.lower_per_s`"
        )),
        Method::Measure
        | Method::Compare { .. }
        | Method::Sensitivity(_)
        | Method::Availability(_)
            if of_search =>
        {
            Some(format!(
                "`{path}` is found by a search: write `method: {{ capacity: … }}`, or another metric"
            ))
        }
        Method::Measure
        | Method::Compare { .. }
        | Method::Levels(_)
        | Method::Capacity(_)
        | Method::Sensitivity(_)
        | Method::Availability(_) => None,
    }
}

/// Why a figure of a link cannot exist; `None` when it can.
fn refuse_link(path: &str, link: &str, method: &Method, arm: &Arm) -> Option<String> {
    let Method::Sensitivity(sensitivity) = method else {
        return Some(format!(
            "`{path}` is of a link that is delayed: write `method: {{ sensitivity: … }}`, or another metric"
        ));
    };
    let links = sensitivity.reached(&arm.target.component);
    let leading_to = |name: &str| links.iter().filter(|link| link.name() == name).count();
    // Of several links that lead to one component, each has its whole text for a name.
    let names = links.iter().map(|link| link.name());
    let names = names.filter(|name| leading_to(name) == 1);
    let known: Vec<String> = names.chain(links.iter().map(|link| link.text())).collect();
    if known.iter().any(|known| known == link) {
        return None;
    }
    Some(format!(
        "`{path}` is of no link that is delayed: {}",
        suggestion(link, &known)
    ))
}

/// Why a figure of outages cannot exist; `None` when it can. `fault`: the row that it is of, if it is of one.
fn refuse_outage(path: &str, fault: Option<&str>, method: &Method) -> Option<String> {
    let Method::Availability(availability) = method else {
        return Some(format!(
            "`{path}` is of trials of faults: write `method: {{ availability: … }}`, or another metric"
        ));
    };
    let rows = availability.rows.iter();
    let known: Vec<String> = rows.flat_map(Row::names).collect();
    let fault = fault.filter(|fault| !known.iter().any(|known| known == fault))?;
    Some(format!(
        "`{path}` is of no fault that is tried: {}",
        suggestion(fault, &known)
    ))
}

/// Why a difference cannot exist; `None` when it can, or when the metric is not one.
fn refuse_difference(metric: &Metric, arm: &str, method: &Method) -> Option<String> {
    if !metric.is_below("added") {
        return None;
    }
    let metric = metric.path();
    match method {
        Method::Measure
        | Method::Levels(_)
        | Method::Capacity(_)
        | Method::Sensitivity(_)
        | Method::Availability(_) => Some(format!(
            "`{metric}` is a difference to a baseline: write `method: {{ compare: … }}`, or another metric"
        )),
        Method::Compare { baseline, .. } if baseline == arm => Some(format!(
            "the baseline has no `{metric}`: write another arm, or another metric"
        )),
        Method::Compare { .. } => None,
    }
}
