//! Criterion 6: our own end of the network had no trouble: at most one segment in a thousand was sent again, and ports and
//! descriptors did not run out.
//!
//! A segment that was sent again made one exchange longer, or none, if it was another program's in the same network namespace.
//! What could not connect for want of a port or a descriptor never reached the target: it is missing from every figure.

use super::reach;
use super::row::{self, Finding};
use crate::record::{ArmData, Effect, Segments, Sense, ValidityRow};

const RETRANSMITTED: f64 = 0.001;
const DESCRIPTORS: f64 = 0.9;
/// Beyond this share of arrivals without port or descriptor, what was measured is another load.
const EXHAUSTED_SHARE: f64 = 0.01;

pub(super) fn judge(arm: &ArmData) -> Vec<ValidityRow> {
    let mut rows = Vec::new();
    let says_something = |segments: &Segments| row::says_something(segments.sent, RETRANSMITTED);
    if let Some(segments) = arm.health.segments.filter(says_something) {
        let row = finding(
            "segments sent again",
            segments.again_share(),
            RETRANSMITTED,
            "share",
            "Segments were lost on the way and sent again, each after 200 ms or more: look at the network between generator and target.",
        );
        let reached = || reach::of_exchanges(arm, segments.again);
        rows.extend(row.rows(&arm.name, reached));
    }
    if let Some(times) = arm.health.exhausted {
        #[expect(clippy::cast_precision_loss, reason = "counts")]
        let (value, intended) = (times as f64, arm.intended.max(1) as f64);
        let row = finding(
            "connections without port or descriptor",
            value,
            0.0,
            "count",
            "The generator ran out of local ports or descriptors: keep connections alive, allow fewer, widen `net.ipv4.ip_local_port_range`, or raise `ulimit -n`.",
        );
        let effect = if value > EXHAUSTED_SHARE * intended {
            Effect::Invalid
        } else {
            Effect::Marked
        };
        rows.extend(row.rows(&arm.name, || reach::everything(effect)));
    }
    if let Some(share) = arm.health.descriptors_share {
        let row = finding(
            "descriptors in use",
            share,
            DESCRIPTORS,
            "share",
            "Nearly all of the generator's descriptors were in use: raise `ulimit -n`, or allow fewer connections.",
        );
        let failures = ["failed", "failed_share", "outcomes.exhausted"];
        rows.extend(row.rows(&arm.name, || reach::paths(failures, Effect::Marked)));
    }
    rows
}

fn finding(name: &'static str, value: f64, limit: f64, unit: &'static str, bad: &str) -> Finding {
    Finding {
        criterion: 6,
        name,
        value,
        limit,
        unit,
        sense: Sense::AtMost,
        good: "Our own end of the network had no trouble.".to_owned(),
        bad: bad.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Segments;
    use crate::validity::sample;

    #[test]
    fn each_trouble_reaches_what_it_can() {
        let mut arm = sample::spread("a", 0.02);
        assert_eq!(judge(&arm), []);
        let segments = |again| Some(Segments { sent: 2_000, again });
        (arm.health.segments, arm.health.exhausted) = (segments(2), Some(0));
        arm.health.descriptors_share = Some(0.5);
        assert!(judge(&arm).iter().all(|row| row.ok));

        arm.health.segments = segments(20);
        let rows = judge(&arm);
        assert_eq!(sample::effect(&rows, "response_time.p99"), Effect::Invalid);
        assert_eq!(sample::effect(&rows, "response_time.p50"), Effect::None);

        arm.health.exhausted = Some(5);
        assert_eq!(
            sample::effect(&judge(&arm), "response_time.p50"),
            Effect::Marked
        );
        arm.health.exhausted = Some(500);
        let rows = judge(&arm);
        assert_eq!(sample::effect(&rows, "failed_share"), Effect::Invalid);
        assert_eq!(
            sample::effect(&rows, "components.x.cpu_cores_max"),
            Effect::None
        );
    }
}
