//! Criterion 3: the generator did not stand still. Its watchdog's stalls together take at most a thousandth of the time.
//!
//! A stall also delays what is read: exchanges under way seem slower, which no lateness of arrivals shows.

use super::reach;
use super::row::Finding;
use crate::record::{ArmData, Sense, ValidityRow};
use plimsoll_base::units::format_seconds;

const LIMIT: f64 = 0.001;

pub(super) fn judge(arm: &ArmData) -> Vec<ValidityRow> {
    let Some(share) = arm.health.stalled_share else {
        return Vec::new();
    };
    let longest = arm.health.longest_stall_s.map_or_else(String::new, |s| {
        format!(", for {} at the longest", format_seconds(s))
    });
    let finding = Finding {
        criterion: 3,
        name: "time stalled",
        value: share,
        limit: LIMIT,
        unit: "share",
        sense: Sense::AtMost,
        good: "The generator never stalled for long.".to_owned(),
        bad: format!(
            "The generator stalled{longest}: something took its processor (other work, a CPU quota), or the whole machine paused. Stop other work on this host, or measure longer, so that a stall is a smaller share of the time."
        ),
    };
    finding.rows(&arm.name, || reach::of_time_share(arm, share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::validity::sample;
    use crate::record::Effect;

    /// 100 ms in 10 s are a hundredth of the time and reach the last two hundredths of the exchanges, never the median.
    #[test]
    fn a_stall_reaches_the_tail() {
        let mut arm = sample::spread("a", 0.02);
        assert_eq!(judge(&arm), []);
        (arm.health.longest_stall_s, arm.health.stalled_share) = (Some(0.1), Some(0.01));
        let rows = judge(&arm);
        assert!(!rows[0].ok);
        for (path, expected) in [
            ("response_time.p50", Effect::None),
            ("response_time.p95", Effect::None),
            ("response_time.p99", Effect::Invalid),
            ("service_time.p99", Effect::Invalid),
            ("achieved_per_s", Effect::None),
        ] {
            assert_eq!(sample::effect(&rows, path), expected, "{path}");
        }
        arm.health.stalled_share = Some(0.0005);
        assert!(judge(&arm)[0].ok);
    }

    #[test]
    fn a_stall_that_reaches_no_figure_breaks_nothing() {
        let mut arm = sample::spread("a", 0.0);
        arm.health.stalled_share = Some(0.01);
        let rows = judge(&arm);
        assert!(rows[0].ok && rows[0].effect == Effect::None);
        assert!(rows[0].advice.ends_with("No reported figure is affected."));
    }
}
