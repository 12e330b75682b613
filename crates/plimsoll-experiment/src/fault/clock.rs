//! `clock`: a component's clock is wrong.

use plimsoll_base::document::Path as Pointer;
use plimsoll_base::units::parse_duration;

use super::{FaultKind, Scope};
use crate::component::Readiness;
use crate::loader::Loader;
use crate::wire::FaultWire;

/// A smaller error cannot be told from the whole seconds of a `Date` field.
const LEAST_S: f64 = 5.0;

pub(super) fn convert(
    loader: &mut Loader<'_>,
    component: String,
    wire: &FaultWire,
    scope: &Scope<'_>,
    at: &Pointer,
) -> Option<FaultKind> {
    let answers = scope
        .command(&component)
        .is_none_or(|command| matches!(command.readiness, Readiness::Http(_)));
    if !answers {
        let message = format!(
            "no answer of `{component}` can prove it: add `ready: {{ http: /path }}` to the component, whose answers say what time it is"
        );
        loader.refuse(at.key("clock"), message);
    }
    if scope.has_disk(&component) {
        let message = format!(
            "is told by a file in the directory of `{component}`, whose `disk` it alone sees: remove `disk`"
        );
        loader.refuse(at.key("clock"), message);
    }
    let Some(text) = &wire.by else {
        loader.refuse(
            at,
            "says not by how much: add `by`, such as `by: 1h` or `by: -1h`",
        );
        return None;
    };
    let (sign, length) = match text.strip_prefix('-') {
        Some(length) => (-1.0, length),
        None => (1.0, text.as_str()),
    };
    match parse_duration(length) {
        Ok(length) if length.as_secs_f64() < LEAST_S => {
            let message = "is less than 5s, which whole seconds of an answer's date cannot prove";
            loader.refuse(at.key("by"), format!("{message}: write more"));
            None
        }
        Ok(length) => Some(FaultKind::Clock {
            component,
            by_s: sign * length.as_secs_f64(),
        }),
        Err(error) => {
            loader.refuse(at.key("by"), format!("{error}; `-1h` is an hour behind"));
            None
        }
    }
}
