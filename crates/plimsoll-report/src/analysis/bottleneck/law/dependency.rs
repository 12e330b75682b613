//! A component of ours further inside that takes most of an exchange's time, and does not work for it: it waits, as delays do.

use super::{Ruling, cause, is_used_up, percent};
use crate::analysis::bottleneck::case::{Case, ComponentSeen, Own, Point};
use crate::record::CauseKind;
use plimsoll_base::units::{format_number, format_seconds};

/// This share of the time is most of it.
const MOST: f64 = 0.7;

pub(super) fn rule(case: &Case) -> Ruling {
    let point = case.limit();
    let mut ruling = Ruling::default();
    for (inner, own) in point.inner() {
        let share = share(point, own);
        if share < MOST {
            ruling.ruled_out.push(format!(
                "{}: {} of an exchange's time is spent there",
                inner.name,
                percent(share)
            ));
        } else if !is_used_up(inner) {
            ruling.causes.push(of_one(point, inner, own, share));
        }
    }
    ruling
}

/// Of the time of an exchange, what is spent in a component: its own mean time by calls per exchange.
fn share(point: &Point, own: Own) -> f64 {
    let calls = own.per_s / point.achieved_per_s.max(f64::MIN_POSITIVE);
    (calls * own.mean_s / point.service_s.max(f64::MIN_POSITIVE)).min(1.0)
}

/// How busy its processors are meanwhile, as far as that is known.
fn processors(inner: &ComponentSeen) -> String {
    let used = inner.used();
    used.map_or_else(
        || "how busy its processors were is not known".to_owned(),
        |used| format!("uses {} of its processors meanwhile", percent(used)),
    )
}

fn of_one(point: &Point, inner: &ComponentSeen, own: Own, share: f64) -> crate::record::Cause {
    cause(
        CauseKind::Dependency,
        Some(&inner.name),
        format!(
            "{} takes {} of an exchange's time, and {}.",
            inner.name,
            percent(share),
            processors(inner)
        ),
        vec![
            format!(
                "{} of {} are spent in {}, by its own counters",
                format_seconds(share * point.service_s),
                format_seconds(point.service_s),
                inner.name
            ),
            format!(
                "{} exchanges under way in it at once = {}/s · {} (Little's law)",
                format_number((own.per_s * own.mean_s).round()),
                format_number(own.per_s),
                format_seconds(own.mean_s)
            ),
        ],
    )
}
