//! Arms of known times, for the tests of criteria.

use super::effect_on;
use crate::record::metric::Metric;
use crate::record::{ArmData, Effect, LoadModel, ValidityRow};
use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::tally::{ClassTally, StepTally};
use plimsoll_base::time_kind::TimeKind;

/// Times in µs as a histogram.
pub(crate) fn histogram(micros: impl IntoIterator<Item = u64>) -> TimeHistogram {
    let mut histogram = TimeHistogram::new();
    micros
        .into_iter()
        .for_each(|us| histogram.record_nanos(us * 1_000));
    histogram
}

/// An open arm whose response and service times are these.
pub(crate) fn arm(name: &str, times: &TimeHistogram) -> ArmData {
    let mut arm = ArmData::new(name, "t", LoadModel::Open, Some(100.0));
    arm.seconds = 10.0;
    let class = ClassTally {
        count: times.count(),
        times: [
            (TimeKind::ResponseTime, times.clone()),
            (TimeKind::ServiceTime, times.clone()),
        ]
        .into(),
        ..ClassTally::default()
    };
    let step = StepTally {
        sent: times.count(),
        classes: [(OutcomeClass::Passed, class)].into(),
        ..StepTally::default()
    };
    (arm.intended, arm.sent) = (step.sent, step.sent);
    arm.steps.insert("s".to_owned(), step);
    arm
}

/// An arm of 1,000 exchanges of about 1 ms, of which the share `slow` took from 10 ms up to 100 ms.
pub(crate) fn spread(name: &str, slow: f64) -> ArmData {
    let first_slow = 1_000.0 * (1.0 - slow);
    let times = (0..1_000_u32).map(|i| {
        if f64::from(i) < first_slow {
            1_000
        } else {
            u64::from(i) * 100
        }
    });
    arm(name, &histogram(times))
}

/// Effect of rows on one metric of the arm `a`.
pub(crate) fn effect(rows: &[ValidityRow], path: &str) -> Effect {
    effect_on(rows, "a", &Metric::parse(path).unwrap())
}
