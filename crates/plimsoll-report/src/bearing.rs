//! How a target bore a rate that was offered: from the figures of one load to one word, with what it rests on.
//!
//! A rate is sustained while the backlog does not grow: what comes in goes out, however long each takes. So it is the backlog of the
//! second half that decides and not the throughput of the whole, from which the first response time is always missing.

use crate::record::{ArmData, ArmSummary, Backlog, Bearing, LoadModel, Manner};
use plimsoll_base::units::format_number;
use std::ops::RangeInclusive;

/// What the mean is of the longest response time when a queue of equal work drains; real work is not quite equal.
pub const DRAINING: RangeInclusive<f64> = 0.4..=0.62;
/// A backlog that grows by this share of the rate is growing.
const GROWTH: f64 = 0.05;
/// Standard deviations of a backlog in balance (that of a count) beyond which its change is not chance.
const CHANCE: f64 = 4.0;
/// A share of lost arrivals from which on the rate counts as shed.
const SHED: f64 = 0.05;
/// A throughput below this share of what a lower rate gave is a collapse.
const COLLAPSED: f64 = 0.7;

/// How the load of `data`, whose figures are `figures`, was borne. `best_per_s` is the highest throughput at lower rates, where one is known.
/// `None` in the closed model, which offers no rate.
#[must_use]
pub fn judge(data: &ArmData, figures: &ArmSummary, best_per_s: Option<f64>) -> Option<Bearing> {
    let offered_per_s = match data.model {
        LoadModel::Open => data.offered_per_s?,
        LoadModel::Closed => return None,
    };
    let lost_share = lost_share(data, figures);
    let response = &figures.times.response_time;
    let times = response.mean.zip(response.max);
    Some(decide(&Facts {
        offered_per_s,
        answered_per_s: figures.achieved_per_s.unwrap_or(0.0),
        best_per_s,
        backlog: data.backlog.unwrap_or_default(),
        lost_share,
        mostly_late: mostly_late(figures, lost_share),
        drains: times.is_some_and(|(mean, max)| {
            max > data.seconds / 2.0 && DRAINING.contains(&(mean / max))
        }),
    }))
}

/// One second of a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Second {
    /// Exchanges that were answered in it.
    pub answered: f64,
    /// Arrivals that were started in it.
    pub sent: f64,
    /// Exchanges that failed in it.
    pub failed: u64,
    /// Arrivals that were dropped in it.
    pub dropped: u64,
    /// Exchanges under way, and arrivals that waited for a connection, at its end.
    pub backlog: u64,
}

/// How a part of a load was borne, from its seconds.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of seconds")]
pub fn of_seconds(seconds: &[Second], offered_per_s: f64, best_per_s: Option<f64>) -> Bearing {
    let length = seconds.len() as f64;
    let backlog = match (seconds.first(), seconds.last()) {
        (Some(first), Some(last)) => Backlog {
            middle: first.backlog,
            end: last.backlog,
            seconds: length - 1.0,
            dropped: seconds.iter().skip(1).map(|second| second.dropped).sum(),
        },
        _ => Backlog::default(),
    };
    let lost: u64 = seconds
        .iter()
        .map(|second| second.failed + second.dropped)
        .sum();
    let due: f64 = seconds
        .iter()
        .map(|second| second.sent + second.dropped as f64)
        .sum();
    decide(&Facts {
        offered_per_s,
        answered_per_s: seconds.iter().map(|second| second.answered).sum::<f64>() / length.max(1.0),
        best_per_s,
        backlog,
        lost_share: (lost as f64 / due.max(1.0)).min(1.0),
        mostly_late: false,
        drains: false,
    })
}

/// What the word rests on.
struct Facts {
    offered_per_s: f64,
    answered_per_s: f64,
    /// The highest throughput at lower rates.
    best_per_s: Option<f64>,
    backlog: Backlog,
    lost_share: f64,
    /// Whether most of what was lost was given up at its deadline.
    mostly_late: bool,
    /// Whether response times are those of one burst that drains.
    drains: bool,
}

fn decide(facts: &Facts) -> Bearing {
    let offered = facts.offered_per_s;
    let growth = facts.backlog.growth_per_s().unwrap_or(0.0);
    #[expect(clippy::cast_precision_loss, reason = "a count of arrivals")]
    let middle = facts.backlog.middle as f64;
    let chance = CHANCE * middle.sqrt().max(1.0) / facts.backlog.seconds.max(1.0);
    let grows = growth > GROWTH * offered && growth > chance;
    let collapsed = |best| facts.answered_per_s < COLLAPSED * best;
    let manner = if facts.best_per_s.is_some_and(collapsed) {
        Manner::Collapses
    } else if grows || facts.mostly_late {
        Manner::Queues
    } else if facts.lost_share >= SHED {
        Manner::Sheds
    } else {
        Manner::Sustains
    };
    let mut bearing = Bearing {
        manner,
        answered_per_s: facts.answered_per_s,
        backlog_growth_per_s: growth,
        lost_share: facts.lost_share,
        burst: facts.drains && manner != Manner::Sustains,
        sentence: String::new(),
    };
    bearing.sentence = sentence(&bearing, offered);
    bearing
}

/// Arrivals that were never started and exchanges that failed, over all arrivals.
#[expect(clippy::cast_precision_loss, reason = "a share")]
fn lost_share(data: &ArmData, figures: &ArmSummary) -> f64 {
    let lost = (data.dropped + figures.failed) as f64;
    (lost / data.intended.max(1) as f64).min(1.0)
}

/// Whether most of what was lost was given up at its deadline, which is what a queue that has grown too long looks like.
fn mostly_late(figures: &ArmSummary, lost_share: f64) -> bool {
    let late = figures.outcomes.timed_out + figures.outcomes.unfinished;
    lost_share >= SHED && 2 * late > figures.failed
}

fn sentence(bearing: &Bearing, offered: f64) -> String {
    let [offered, answered, growth] = [
        offered,
        bearing.answered_per_s,
        bearing.backlog_growth_per_s,
    ]
    .map(format_number);
    let lost = format!("{:.1} %", 100.0 * bearing.lost_share);
    let burst = if bearing.burst {
        "; the mean response time is half of the longest, as when one burst drains"
    } else {
        ""
    };
    match bearing.manner {
        Manner::Sustains => format!("{offered}/s was sustained: {answered}/s were answered"),
        Manner::Queues => format!(
            "{offered}/s was not sustained: {answered}/s were answered, and the backlog grew by {growth}/s{burst}"
        ),
        Manner::Sheds => format!(
            "{offered}/s was not sustained: {lost} of the arrivals failed or were dropped, the rest was answered in time"
        ),
        Manner::Collapses => format!(
            "{offered}/s was not sustained: only {answered}/s were answered, fewer than at a lower rate{burst}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarise::figures;
    use plimsoll_base::histogram::TimeHistogram;
    use plimsoll_base::outcome::OutcomeClass;
    use plimsoll_base::tally::{ClassTally, StepTally};
    use plimsoll_base::time_kind::TimeKind;

    /// Ten seconds at 100/s, of which so many were answered in time; response times in ms.
    fn data(answered: u64, backlog: (u64, u64), times: &[u64]) -> ArmData {
        let mut data = ArmData::new("a", "t", LoadModel::Open, Some(100.0));
        (data.seconds, data.intended, data.sent) = (10.0, 1_000, 1_000);
        data.backlog = Some(Backlog {
            middle: backlog.0,
            end: backlog.1,
            seconds: 5.0,
            dropped: 0,
        });
        let mut response = TimeHistogram::new();
        for millis in times {
            response.record_nanos(millis * 1_000_000);
        }
        let passed = ClassTally {
            count: answered,
            times: [(TimeKind::ResponseTime, response)].into(),
            ..ClassTally::default()
        };
        let step = StepTally {
            sent: 1_000,
            statuses: [(200, answered)].into(),
            classes: [(OutcomeClass::Passed, passed)].into(),
            ..StepTally::default()
        };
        data.steps.insert("a".to_owned(), step);
        data
    }

    fn fails(data: &mut ArmData, class: OutcomeClass, count: u64) {
        let step = data.steps.values_mut().next().unwrap();
        step.classes.entry(class).or_default().count = count;
    }

    fn check(data: &ArmData, best: Option<f64>, manner: Manner, sentence: &str) {
        let bearing = judge(data, &figures(data), best).unwrap();
        assert_eq!(
            (bearing.manner, bearing.sentence.as_str()),
            (manner, sentence)
        );
    }

    #[test]
    fn a_backlog_in_balance_is_sustained_however_long_answers_take() {
        // Two seconds each: 800 of 1,000 are answered in time, and 200 are under way all the while.
        check(
            &data(800, (200, 203), &[2_000; 10]),
            None,
            Manner::Sustains,
            "100/s was sustained: 80/s were answered",
        );
    }

    #[test]
    fn a_burst_that_drains_is_recognised() {
        let times: Vec<u64> = (1..=100).map(|n| n * 100).collect();
        check(
            &data(350, (325, 650), &times),
            None,
            Manner::Queues,
            "100/s was not sustained: 35/s were answered, and the backlog grew by 65/s; the mean response time is half of the longest, as when one burst drains",
        );
    }

    #[test]
    fn failures_are_shed_and_timeouts_queued() {
        let mut shed = data(700, (3, 2), &[10; 700]);
        fails(&mut shed, OutcomeClass::CheckFailed, 300);
        check(
            &shed,
            Some(75.0),
            Manner::Sheds,
            "100/s was not sustained: 30.0 % of the arrivals failed or were dropped, the rest was answered in time",
        );
        let mut late = data(700, (3, 2), &[10; 700]);
        fails(&mut late, OutcomeClass::TimedOut, 300);
        let bearing = judge(&late, &figures(&late), None).unwrap();
        assert_eq!(bearing.manner, Manner::Queues);
    }

    #[test]
    fn less_than_at_a_lower_rate_is_a_collapse() {
        check(
            &data(200, (30, 500), &[10; 200]),
            Some(90.0),
            Manner::Collapses,
            "100/s was not sustained: only 20/s were answered, fewer than at a lower rate",
        );
    }

    #[test]
    fn users_are_offered_no_rate() {
        let mut closed = data(700, (3, 2), &[10; 700]);
        closed.model = LoadModel::Closed;
        assert_eq!(judge(&closed, &figures(&closed), None), None);
    }
}
