//! Criterion 15: what was due was answered, or failed. At most one arrival in a thousand was dropped, still waited when the load ended, or had
//! an exchange under way that was cut off then.
//!
//! Nobody knows how long these would have waited. They stand in the response times as lower bounds, and what was dropped behind all others:
//! a figure that rests on them is *at least* what it says.

use super::reach;
use super::row::{self, Finding};
use crate::record::{ArmData, Effect, Sense, Statistic, ValidityRow};
use crate::statistics::ResponseTimes;
use plimsoll_base::outcome_class::OutcomeClass;

const LIMIT: f64 = 0.001;

pub(super) fn judge(arm: &ArmData) -> Vec<ValidityRow> {
    let unanswered = arm.dropped + arm.count(OutcomeClass::Aborted) + arm.in_flight();
    // One of a few is no share of them.
    let is_one_of_few = unanswered <= 1 && !row::says_something(arm.intended, LIMIT);
    if arm.intended == 0 || is_one_of_few {
        return Vec::new();
    }
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    let share = unanswered as f64 / arm.intended as f64;
    let finding = Finding {
        criterion: 15,
        name: "arrivals neither answered nor failed",
        value: share,
        limit: LIMIT,
        unit: "share",
        sense: Sense::AtMost,
        good: match unanswered {
            0 => "Every arrival was answered or failed.",
            _ => "At most one arrival in a thousand was neither answered nor failed.",
        }
        .to_owned(),
        bad: "Arrivals were dropped, or were still queued or in flight at the end: their response times are unknown, so figures that depend on them are lower bounds. Allow more connections, lower the rate, or let the load finish.".to_owned(),
    };
    finding.rows(&arm.name, || {
        let times = ResponseTimes::of_arm(arm).statistics();
        let figures = Statistic::ALL.map(|one| (one.name(), one.share()));
        let bounds = figures.into_iter().chain([("max", Some(1.0))]);
        let paths: Vec<String> = bounds
            .filter(|(_, share)| times.is_at_least(*share))
            .map(|(name, _)| format!("response_time.{name}"))
            .collect();
        reach::paths(paths.iter().map(String::as_str), Effect::Marked)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::validity::sample;
    use crate::record::LoadModel;

    #[test]
    fn what_was_dropped_marks_what_rests_on_it() {
        let mut arm = sample::spread("a", 0.0);
        arm.intended += 20;
        arm.dropped = 20;
        let rows = judge(&arm);
        assert!(!rows[0].ok, "{rows:?}");
        assert_eq!(sample::effect(&rows, "response_time.p99"), Effect::Marked);
        assert_eq!(sample::effect(&rows, "response_time.p97"), Effect::Marked);
        assert_eq!(sample::effect(&rows, "response_time.p90"), Effect::None);
        assert_eq!(sample::effect(&rows, "service_time.p99"), Effect::None);
    }

    #[test]
    fn one_of_a_few_is_no_share() {
        let mut arm = ArmData::new("a", "t", LoadModel::Open, Some(10.0));
        (arm.intended, arm.dropped) = (30, 1);
        assert_eq!(judge(&arm), []);
        arm.dropped = 2;
        assert!(!judge(&arm).is_empty());
        (arm.intended, arm.dropped) = (1_000, 1);
        assert!(judge(&arm)[0].ok);
        let share = "At most one arrival in a thousand was neither answered nor failed.";
        assert_eq!(judge(&arm)[0].advice, share);
        let all = judge(&sample::spread("a", 0.0));
        assert_eq!(all[0].advice, "Every arrival was answered or failed.");
    }
}
