//! A generator that does not get its arrivals out, or has no processor time left, measures itself: nothing follows about its target.

use super::{FULL, Ruling, anything_used_up, cause, percent};
use crate::analysis::bottleneck::case::Case;
use crate::judgement::validity::RELEASED;
use crate::record::{CauseKind, GENERATOR};
use plimsoll_base::units::format_number;

/// A generator that is throttled this often does not keep its pace.
const THROTTLED: f64 = 0.2;

pub(super) fn rule(case: &Case) -> Ruling {
    let point = case.limit();
    let Some(generator) = point.generator() else {
        return Ruling::default();
    };
    let mut evidence = Vec::new();
    // Criterion 1 of validity: a smaller share of arrivals released is no load as planned, and what it would have given nobody knows.
    let late = point.released_share < RELEASED;
    if late {
        evidence.push(format!(
            "released {} of the arrivals in time",
            percent(point.released_share)
        ));
    }
    let ready = generator.strain.busiest_thread_ready.unwrap_or(0.0);
    let hot = !point.spins && ready >= FULL;
    if hot {
        evidence.push(format!(
            "its busiest thread ran {} of the time, and ran or waited for a processor {}",
            percent(generator.thread_cores.unwrap_or(0.0)),
            percent(ready)
        ));
    }
    let throttled = generator.strain.throttled_share.unwrap_or(0.0);
    if throttled >= THROTTLED {
        evidence.push(format!(
            "throttled in {} of its CPU quota's periods",
            percent(throttled)
        ));
    }
    // Who is used up himself makes others wait for answers, and a generator that waits is not busy.
    let explains = (late || hot || throttled >= THROTTLED) && !anything_used_up(point);
    if !explains {
        let busy = generator.thread_cores.map(percent).filter(|_| !late);
        return Ruling {
            ruled_out: busy
                .map(|busy| {
                    format!(
                        "the generator: its busiest thread ran {busy} of the time, and {} of the arrivals were released",
                        percent(point.released_share)
                    )
                })
                .into_iter()
                .collect(),
            ..Ruling::default()
        };
    }
    let statement = format!(
        "The generator was the limit: the target carries at least {}/s, and how much more is not known.",
        format_number(point.achieved_per_s)
    );
    Ruling {
        causes: vec![cause(
            CauseKind::Generator,
            Some(GENERATOR),
            statement,
            evidence,
        )],
        decisive: true,
        ..Ruling::default()
    }
}
