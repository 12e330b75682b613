//! All users or connections of the plan are under way all of the time: the rate is their number by the time of an exchange.

use super::{Ruling, anybody_pressed, anything_used_up, cause};
use crate::analysis::bottleneck::case::Case;
use crate::record::{CauseKind, LoadModel};
use plimsoll_base::units::{format_number, format_seconds};

/// This share of them on the mean counts as all.
const ALL: f64 = 0.9;

pub(super) fn rule(case: &Case) -> Ruling {
    let point = case.limit();
    let Some(at_once) = point.plan.at_once else {
        return Ruling::default();
    };
    let (one, many) = match point.model {
        LoadModel::Open => ("connection", "connections"),
        LoadModel::Closed => ("user", "users"),
    };
    let under_way = point.in_flight();
    if under_way < ALL * at_once {
        return Ruling::ruled_out(format!(
            "the plan's {many}: {} of {} were under way on the mean",
            format_number(under_way.round()),
            format_number(at_once)
        ));
    }
    // With something used up more of them would only wait longer.
    if anything_used_up(point) || anybody_pressed(point) {
        return Ruling::default();
    }
    let per_s = at_once / point.service_s.max(f64::MIN_POSITIVE);
    let all_wait = match format_number(at_once).as_str() {
        "1" => format!("The plan's only {one} is waiting for an answer: with one"),
        count => format!("All {count} {many} of the plan are waiting for answers: with that many"),
    };
    let mut found = cause(
        CauseKind::Connections,
        None,
        format!(
            "{all_wait}, the maximum is {}/s while an exchange takes {}.",
            format_number(per_s),
            format_seconds(point.service_s)
        ),
        [
            Some(format!(
                "{} under way on the mean = {}/s · {} (Little's law)",
                format_number(under_way.round()),
                format_number(point.achieved_per_s),
                format_seconds(point.service_s)
            )),
            point.offered_per_s.map(|offered| {
                format!(
                    "{}/s would need about {} of them while an exchange takes as long",
                    format_number(offered),
                    format_number((offered * point.service_s).ceil())
                )
            }),
        ]
        .into_iter()
        .flatten()
        .collect(),
    );
    found.predicted_per_s = Some(per_s);
    Ruling::of(vec![found])
}
