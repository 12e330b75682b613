//! Little's law, L = X · R, at two places: where fewer exchanges are under way further inside than outside while nobody works, something
//! between lets only so many through.
//!
//! Exchanges that each take their time on the way, without waiting for others, look the same in their means. They differ in the fastest one:
//! it waits for nobody.

use super::{Ruling, cause, is_everybody_idle};
use crate::analysis::bottleneck::case::{Case, ComponentSeen, Own, Point};
use crate::record::{Cause, CauseKind};
use plimsoll_base::units::{format_number, format_seconds};

/// Outside there must be so many times as many under way as inside.
const MORE: f64 = 1.3;
/// Of the time between outside and inside, the share that even the fastest exchange may need.
const OWN: f64 = 0.4;
/// Under a light load an exchange must have taken this share of what it takes at the limit, at most.
const LIGHTER: f64 = 0.67;

pub(super) fn rule(case: &Case) -> Ruling {
    let point = case.limit();
    if !is_everybody_idle(point) {
        return Ruling::default();
    }
    let mut ruling = Ruling::default();
    for (inner, own) in point.inner() {
        match of_inner(point, inner, own) {
            Some(Ok(found)) => ruling.causes.push(found),
            Some(Err(excluded)) => ruling.ruled_out.push(excluded),
            None => {}
        }
    }
    if point.inner().next().is_none() {
        ruling.causes.extend(of_light_load(case));
    }
    ruling
}

/// Held against what a component of ours further inside timed itself.
fn of_inner(point: &Point, inner: &ComponentSeen, own: Own) -> Option<Result<Cause, String>> {
    let calls = own.per_s / point.achieved_per_s.max(f64::MIN_POSITIVE);
    let (outside, inside) = (point.in_flight(), own.per_s * own.mean_s);
    let between = point.service_s - calls * own.mean_s;
    if inside < 0.8 || outside < MORE * inside {
        return None;
    }
    let target = target(point);
    let itself = point
        .fastest_s
        .map(|fastest| fastest - calls.max(1.0) * own.shortest_s);
    if let Some(itself) = itself.filter(|itself| *itself > OWN * between) {
        return Some(Err(format!(
            "a pool between {target} and {}: even the fastest exchange took {} longer outside than inside",
            inner.name,
            format_seconds(itself)
        )));
    }
    let size = format_number((inside * 10.0).round() / 10.0);
    let mut found = cause(
        CauseKind::Pool,
        Some(target),
        format!(
            "{target} lets about {size} exchanges through to {} at a time, and no processor is busy: a pool, or workers, of that size.",
            inner.name
        ),
        vec![
            format!(
                "{size} under way in {} = {}/s · {} (Little's law)",
                inner.name,
                format_number(own.per_s),
                format_seconds(own.mean_s)
            ),
            format!(
                "{} under way outside = {}/s · {}",
                format_number((outside * 10.0).round() / 10.0),
                format_number(point.achieved_per_s),
                format_seconds(point.service_s)
            ),
            format!("so {} of each exchange is waiting", format_seconds(between)),
        ],
    );
    found.predicted_per_s = Some(point.achieved_per_s);
    Some(Ok(found))
}

/// Held against the same exchange under a light load.
fn of_light_load(case: &Case) -> Option<Cause> {
    let (light, point) = (case.light()?, case.limit());
    if light.service_s <= 0.0 || light.service_s > LIGHTER * point.service_s {
        return None;
    }
    let at_once = point.achieved_per_s * light.service_s;
    if at_once < 0.8 {
        return None;
    }
    let target = target(point);
    let size = format_number((at_once * 10.0).round() / 10.0);
    let mut found = cause(
        CauseKind::Pool,
        Some(target),
        format!(
            "{target} works on about {size} exchanges at a time while no processor is busy: a pool, workers or a lock."
        ),
        vec![
            format!(
                "{size} at a time = {}/s · {}, what one takes at {}/s",
                format_number(point.achieved_per_s),
                format_seconds(light.service_s),
                format_number(light.achieved_per_s)
            ),
            format!(
                "an exchange takes {} at the limit",
                format_seconds(point.service_s)
            ),
        ],
    );
    found.predicted_per_s = Some(point.achieved_per_s);
    Some(found)
}

fn target(point: &Point) -> &str {
    point.target.split('/').next().unwrap_or_default()
}
