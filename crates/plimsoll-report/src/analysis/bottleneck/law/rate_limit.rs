//! A target that says "too many requests" (RFC 6585, section 4) has a limit of its own making.

use super::{Ruling, cause, percent};
use crate::analysis::bottleneck::case::Case;
use crate::record::CauseKind;
use plimsoll_base::units::format_number;

/// A larger share of such answers is the limit.
const LIMITED: f64 = 0.01;

pub(super) fn rule(case: &Case) -> Ruling {
    let point = case.limit();
    if point.limited_share < LIMITED {
        return Ruling::default();
    }
    let let_through = point.achieved_per_s * (1.0 - point.limited_share);
    let mut found = cause(
        CauseKind::RateLimit,
        Some(&point.target),
        format!(
            "{} or something behind it limits the rate: it lets {}/s through.",
            point.target,
            format_number(let_through)
        ),
        vec![format!(
            "{} of the answers have status 429",
            percent(point.limited_share)
        )],
    );
    found.predicted_per_s = Some(let_through);
    Ruling::of(vec![found])
}
