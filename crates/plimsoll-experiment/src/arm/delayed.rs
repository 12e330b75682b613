//! Arms whose links are delayed: their loads must be such that a delay shows as itself.

use plimsoll_base::document::Path as Pointer;
use plimsoll_base::units::format_seconds;
use plimsoll_load::plan::Load;
use plimsoll_report::statistics::sensitivity::connections_needed;
use std::time::Duration;

use super::{Arm, TooFewConnections};
use crate::loader::Loader;
use crate::method::{Method, Sensitivity};
use crate::topology::link::Link;

/// A longer part of the timeout would be eaten by delays alone.
const PART_OF_TIMEOUT: u32 = 4;

/// Refuses loads of arms under which a delay would say something else.
pub(crate) fn check(loader: &mut Loader<'_>, method: &Method, arms: &[Arm]) {
    let Method::Sensitivity(sensitivity) = method else {
        return;
    };
    let at = &Pointer::root().key("method").key("sensitivity");
    let longest = sensitivity.delays.iter().max().copied().unwrap_or_default();
    for link in &sensitivity.links {
        let is_reached = |arm: &Arm| sensitivity.reached(&arm.target.component).contains(&link);
        if !arms.is_empty() && !arms.iter().any(is_reached) {
            let message = format!(
                "no arm leads to `{}`: its target must be `{}`, or lead there",
                link.text(),
                link.from
            );
            loader.refuse(at.key("links"), message);
        }
    }
    let is_delayed = |arm: &&Arm| !sensitivity.reached(&arm.target.component).is_empty();
    for arm in arms.iter().filter(is_delayed) {
        refuse_half(loader, sensitivity, arm, &at.key("links"));
        let settings = &arm.settings;
        if matches!(settings.load, Load::Closed { .. }) {
            let message = format!(
                "{}: users wait for the answer before they ask again, so a delay changes the load: write `load: {{ rate: 10/s }}` in place of `users`",
                arm.name
            );
            loader.refuse(at, message);
            continue;
        }
        if arm.rate().is_none() {
            let message = format!(
                "{}: its rate changes with time, and so would response times: write `load: {{ rate: 10/s }}`",
                arm.name
            );
            loader.refuse(at, message);
        }
        if longest > settings.timeout / PART_OF_TIMEOUT {
            let message = format!(
                "{}: a delay of {} is more than a quarter of the timeout of {}: write shorter delays, or a longer `timeout`",
                arm.name,
                format_seconds(longest.as_secs_f64()),
                format_seconds(settings.timeout.as_secs_f64())
            );
            loader.refuse(at.key("delays"), message);
        }
        refuse_crowding(loader, arm, longest, &at.key("delays"));
    }
}

/// A dependency that an arm reaches by several links answers as a whole: delaying one of them says little.
fn refuse_half(loader: &mut Loader<'_>, sensitivity: &Sensitivity, arm: &Arm, at: &Pointer) {
    let components = sensitivity.components(&arm.target.component);
    let below = sensitivity.known.iter();
    let below = below.filter(|link| components.contains(link.from.as_str()));
    let named = |link: &&Link| sensitivity.links.contains(link);
    for other in below.clone().filter(|link| !named(link)) {
        if below.clone().filter(named).any(|link| link.to == other.to) {
            let message = format!(
                "`{}` is reached by `{}`, too, which is not named: name both",
                other.to,
                other.text()
            );
            loader.refuse(at, message);
            return;
        }
    }
}

/// Refuses so few connections that the longest delay alone would be waited out in the queue for one. How long an exchange takes without it is
/// known when the first load is over.
fn refuse_crowding(loader: &mut Loader<'_>, arm: &Arm, longest: Duration, at: &Pointer) {
    let Some(rate) = arm.rate() else {
        return;
    };
    let needed = connections_needed(rate, 0.0, longest.as_secs_f64());
    if let Some(TooFewConnections { most, write }) = arm.too_few_connections(needed) {
        let message = format!(
            "{}: a delay of {} alone takes {needed} connections at {rate}/s, and there are at most {most}: write `{write}` or more, or shorter delays",
            arm.name,
            format_seconds(longest.as_secs_f64()),
        );
        loader.refuse(at, message);
    }
}
