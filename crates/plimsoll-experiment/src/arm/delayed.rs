//! Arms whose links are delayed: their loads must be such that a delay shows as itself.

use plimsoll_base::document::Path as Pointer;
use plimsoll_base::units::format_seconds;
use plimsoll_load::plan::Load;

use super::Arm;
use crate::loader::Loader;
use crate::method::Method;

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
    for arm in arms {
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
    }
}
