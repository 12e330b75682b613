//! Criterion 6: our own end of the network had no trouble: at most one segment in a thousand was sent again, and ports and
//! descriptors did not run out.
//!
//! A segment that was sent again made one exchange longer, or none, if it was another program's in the same network namespace.
//! An exchange that could not connect for want of a port or a descriptor never reached the target: it is missing from every figure.

use super::reach;
use super::row::{self, Finding};
use crate::record::{ArmData, Effect, Segments, Sense, ValidityRow};
use plimsoll_base::units::format_number;

const RETRANSMITTED: f64 = 0.001;
const DESCRIPTORS: f64 = 0.9;
/// Beyond this share of arrivals without port or descriptor, what was measured is another load.
const EXHAUSTED_SHARE: f64 = 0.01;

pub(super) fn judge(arm: &ArmData) -> Vec<ValidityRow> {
    let mut rows = Vec::new();
    // With faults it cannot be told apart what they have sent again.
    let is_told = |segments: &Segments| {
        arm.faults.is_empty() && row::says_something(segments.sent, RETRANSMITTED)
    };
    if let Some(segments) = arm.health.segments.filter(is_told) {
        let measured = format!(
            "{} of {} segments were retransmitted",
            number(segments.again),
            number(segments.sent)
        );
        let row = Finding {
            name: "TCP retransmissions",
            value: segments.again_share(),
            limit: RETRANSMITTED,
            unit: "share",
            good: format!("{measured}."),
            bad: format!(
                "{measured}, each after 200 ms or more: look at the network between generator and target."
            ),
            ..OURS
        };
        let reached = || reach::of_exchanges(arm, segments.again);
        rows.extend(row.rows(&arm.name, reached));
    }
    if let Some(times) = arm.health.exhausted {
        #[expect(clippy::cast_precision_loss, reason = "counts")]
        let (value, intended) = (times as f64, arm.intended.max(1) as f64);
        let row = Finding {
            name: "connections without port or descriptor",
            value,
            limit: 0.0,
            unit: "count",
            good: format!(
                "None of {} arrivals lacked a local port or a descriptor.",
                number(arm.intended)
            ),
            bad: format!(
                "{} times, at {} arrivals, the generator had no local port or descriptor left: keep connections alive, allow fewer, widen `net.ipv4.ip_local_port_range`, or raise `ulimit -n`.",
                number(times),
                number(arm.intended)
            ),
            ..OURS
        };
        let effect = if value > EXHAUSTED_SHARE * intended {
            Effect::Invalid
        } else {
            Effect::Marked
        };
        rows.extend(row.rows(&arm.name, || reach::everything(effect)));
    }
    if let Some(share) = arm.health.descriptors_share {
        let measured = format!(
            "At most {} % of the generator's descriptors were in use",
            format_number(share * 100.0)
        );
        let row = Finding {
            name: "descriptors in use",
            value: share,
            limit: DESCRIPTORS,
            unit: "share",
            good: format!("{measured}."),
            bad: format!("{measured}: raise `ulimit -n`, or allow fewer connections."),
            ..OURS
        };
        let failures = ["failed", "failed_share", "outcomes.exhausted"];
        rows.extend(row.rows(&arm.name, || reach::paths(failures, Effect::Marked)));
    }
    rows
}

/// Words that rows of this criterion share.
const OURS: Finding = Finding {
    criterion: 6,
    name: "",
    value: 0.0,
    limit: 0.0,
    unit: "",
    sense: Sense::AtMost,
    good: String::new(),
    bad: String::new(),
};

#[expect(clippy::cast_precision_loss, reason = "counts")]
fn number(count: u64) -> String {
    format_number(count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::validity::sample;
    use crate::record::Segments;

    #[test]
    fn what_was_measured_is_said_in_words() {
        let mut arm = sample::spread("a", 0.02);
        arm.health.segments = Some(Segments {
            sent: 2_000,
            again: 20,
        });
        arm.health.exhausted = Some(5);
        arm.health.descriptors_share = Some(0.5);
        let said: Vec<String> = judge(&arm).into_iter().map(|row| row.advice).collect();
        insta::assert_snapshot!(said.join("\n"), @r#"
20 of 2,000 segments were retransmitted, each after 200 ms or more: look at the network between generator and target.
5 times, at 1,000 arrivals, the generator had no local port or descriptor left: keep connections alive, allow fewer, widen `net.ipv4.ip_local_port_range`, or raise `ulimit -n`.
At most 50 % of the generator's descriptors were in use.
"#);
    }

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
