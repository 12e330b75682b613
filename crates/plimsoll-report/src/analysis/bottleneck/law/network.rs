//! Segments that are lost are sent again, after a wait.

use super::{Ruling, cause, percent};
use crate::analysis::bottleneck::case::{Case, ComponentSeen};
use crate::record::CauseKind;

/// Losing a larger share is a limit.
const LOST: f64 = 0.01;

pub(super) fn rule(case: &Case) -> Ruling {
    let point = case.limit();
    let shares = point.components.iter().filter_map(share);
    let Some(worst) = shares.reduce(f64::max) else {
        return Ruling::default();
    };
    if worst < LOST {
        return Ruling::ruled_out(format!(
            "the network: {} of the segments were retransmitted",
            percent(worst)
        ));
    }
    Ruling::of(vec![cause(
        CauseKind::Network,
        None,
        "Segments are lost on the way and retransmitted.".to_owned(),
        vec![format!(
            "{} of all segments were retransmitted",
            percent(worst)
        )],
    )])
}

#[expect(clippy::cast_precision_loss, reason = "a share")]
fn share(seen: &ComponentSeen) -> Option<f64> {
    let (again, sent) = (seen.strain.segments_again?, seen.strain.segments_sent?);
    (sent > 0).then(|| again as f64 / sent as f64)
}
