//! How a target bore a rate that was offered: from the figures of one load to one word, with what it rests on.
//!
//! A rate is sustained while the backlog does not grow: what comes in goes out, however long each takes. So it is the backlog of the
//! second half that decides and not the throughput of the whole, from which the first response time is always missing.

use crate::record::{ArmData, ArmSummary, Backlog, Bearing, LoadModel, Manner, Outcomes};
use plimsoll_base::units::format_number;
use std::ops::RangeInclusive;

/// Ratio of the mean to the longest response time when a queue of equal work drains; real work is not quite equal.
pub const DRAINING: RangeInclusive<f64> = 0.4..=0.62;
/// A backlog that grows by this share of the rate is growing.
const GROWTH: f64 = 0.05;
/// Standard deviations of a backlog in balance (that of a count) beyond which its change is not chance.
const CHANCE: f64 = 4.0;
/// A share of lost exchanges from which on the rate counts as shed.
const SHED: f64 = 0.05;
/// A goodput below this share of what a lower rate gave is a collapse.
const COLLAPSED: f64 = 0.7;
/// An iteration of as many exchanges is one exchange: what is under way at the end of a load is not counted alike.
pub(crate) const ONE: RangeInclusive<f64> = 0.99..=1.01;

/// How the load of `data`, whose figures are `figures`, was borne. `best_per_s` is the highest goodput at lower rates, where one is known.
/// `None` in the closed model, which offers no rate.
#[must_use]
pub fn judge(data: &ArmData, figures: &ArmSummary, best_per_s: Option<f64>) -> Option<Bearing> {
    let offered_per_s = match data.model {
        LoadModel::Open => data.offered_per_s?,
        LoadModel::Closed => return None,
    };
    let response = &figures.times.response_time;
    let times = response.mean.zip(response.max);
    #[expect(clippy::cast_precision_loss, reason = "counts of a load")]
    let [begun, sent, failed, dropped] = [
        data.steps.values().map(|step| step.sent).sum::<u64>(),
        data.sent,
        figures.failed,
        data.dropped,
    ]
    .map(|count: u64| count as f64);
    Some(decide(&Facts {
        offered_per_s,
        answered_per_s: figures.achieved_per_s.unwrap_or(0.0),
        good_per_s: figures.good_per_s.unwrap_or(0.0),
        best_per_s,
        backlog: data.backlog.unwrap_or_default(),
        losses: Losses::of([begun, sent], failed, dropped),
        fails_late: fails_late(&figures.outcomes, figures.failed),
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
    /// Of these, those whose answer passed its checks.
    pub good: f64,
    /// Arrivals that were started in it.
    pub sent: f64,
    /// Exchanges that were started in it.
    pub begun: f64,
    /// Exchanges that failed in it.
    pub failed: u64,
    /// Arrivals that were dropped in it.
    pub dropped: u64,
    /// Exchanges under way, and arrivals that waited for a connection, at its end.
    pub backlog: u64,
}

/// Facts of a part of a load beside its seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadPart {
    /// The rate that was offered.
    pub offered_per_s: f64,
    /// The highest goodput at lower rates.
    pub best_per_s: Option<f64>,
    /// Whether most of what failed was given up at its deadline, as [`fails_late`] says.
    pub fails_late: bool,
}

/// How a part of a load was borne, from its seconds.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of seconds")]
pub fn of_seconds(seconds: &[Second], part: LoadPart) -> Bearing {
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
    let sum = |of: fn(&Second) -> f64| -> f64 { seconds.iter().map(of).sum() };
    decide(&Facts {
        offered_per_s: part.offered_per_s,
        answered_per_s: sum(|second| second.answered) / length.max(1.0),
        good_per_s: sum(|second| second.good) / length.max(1.0),
        best_per_s: part.best_per_s,
        backlog,
        losses: Losses::of(
            [sum(|second| second.begun), sum(|second| second.sent)],
            sum(|second| second.failed as f64),
            sum(|second| second.dropped as f64),
        ),
        fails_late: part.fails_late,
        drains: false,
    })
}

/// Facts on which the word rests.
struct Facts {
    offered_per_s: f64,
    answered_per_s: f64,
    /// Of these, the answers that passed their checks.
    good_per_s: f64,
    /// The highest goodput at lower rates.
    best_per_s: Option<f64>,
    backlog: Backlog,
    losses: Losses,
    /// Whether most of what failed was given up at its deadline.
    fails_late: bool,
    /// Whether response times are those of one burst that drains.
    drains: bool,
}

/// Losses of a load, counted in exchanges: an arrival that was never started is as many as an iteration makes.
struct Losses {
    /// Exchanges of an iteration, on the mean.
    per_iteration: f64,
    /// Those that failed or were never started, over all.
    share: f64,
}

impl Losses {
    /// From the exchanges and the arrivals that were started, the exchanges that failed, and the arrivals that were dropped.
    fn of([begun, sent]: [f64; 2], failed: f64, dropped: f64) -> Self {
        let per_iteration = if sent > 0.0 { begun / sent } else { 1.0 };
        let missing = dropped * per_iteration;
        let share = (failed + missing) / (begun + missing).max(1.0);
        Self {
            per_iteration,
            share: share.min(1.0),
        }
    }
}

/// Whether a backlog grows, at a rate of so many arrivals per second, by more than chance.
#[must_use]
pub fn grows(backlog: &Backlog, offered_per_s: f64) -> bool {
    let growth = backlog.growth_per_s().unwrap_or(0.0);
    #[expect(clippy::cast_precision_loss, reason = "a count of arrivals")]
    let middle = backlog.middle as f64;
    let chance = CHANCE * middle.sqrt().max(1.0) / backlog.seconds.max(1.0);
    growth > GROWTH * offered_per_s && growth > chance
}

fn decide(facts: &Facts) -> Bearing {
    let growth = facts.backlog.growth_per_s().unwrap_or(0.0);
    let grows = grows(&facts.backlog, facts.offered_per_s);
    let collapsed = |best| facts.good_per_s < COLLAPSED * best;
    let manner = if facts.best_per_s.is_some_and(collapsed) {
        Manner::Collapses
    } else if grows || (facts.fails_late && facts.losses.share >= SHED) {
        // What is given up at its deadline is what a queue that has grown too long looks like.
        Manner::Queues
    } else if facts.losses.share >= SHED {
        Manner::Sheds
    } else {
        Manner::Sustains
    };
    let mut bearing = Bearing {
        manner,
        answered_per_s: facts.answered_per_s,
        good_per_s: facts.good_per_s,
        backlog_growth_per_s: growth,
        lost_share: facts.losses.share,
        burst: facts.drains && manner != Manner::Sustains,
        sentence: String::new(),
    };
    bearing.sentence = sentence(&bearing, facts);
    bearing
}

/// Whether most of what failed was given up at its deadline.
#[must_use]
pub fn fails_late(outcomes: &Outcomes, failed: u64) -> bool {
    2 * (outcomes.timed_out + outcomes.unfinished) > failed
}

fn sentence(bearing: &Bearing, facts: &Facts) -> String {
    // A rate is of iterations, throughput of exchanges: where they differ, each says what it counts.
    let (iterations, exchanges) = match ONE.contains(&facts.losses.per_iteration) {
        true => ("", ""),
        false => (" iterations", " exchanges"),
    };
    let offered = format!("{}{iterations}", format_number(facts.offered_per_s));
    let good = format!("{}{exchanges}", format_number(bearing.good_per_s));
    let growth = format_number(bearing.backlog_growth_per_s);
    let lost = format!("{:.1} %", 100.0 * bearing.lost_share);
    let burst = if bearing.burst {
        "; the mean response time is half of the longest, as when one burst drains"
    } else {
        ""
    };
    match bearing.manner {
        Manner::Sustains => format!("{offered}/s was sustained: {good}/s were good"),
        Manner::Queues => format!(
            "{offered}/s was not sustained: {good}/s were good, and the backlog grew by {growth}/s{burst}"
        ),
        Manner::Sheds => format!(
            "{offered}/s was not sustained: {good}/s were good, {lost} of the exchanges failed or were never started, and the backlog did not grow"
        ),
        Manner::Collapses => format!(
            "{offered}/s was not sustained: only {good}/s were good, fewer than at a lower rate{burst}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarise::figures;
    use plimsoll_base::histogram::TimeHistogram;
    use plimsoll_base::outcome_class::OutcomeClass;
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
            "100/s was sustained: 80/s were good",
        );
    }

    #[test]
    fn a_burst_that_drains_is_recognised() {
        let times: Vec<u64> = (1..=100).map(|n| n * 100).collect();
        check(
            &data(350, (325, 650), &times),
            None,
            Manner::Queues,
            "100/s was not sustained: 35/s were good, and the backlog grew by 65/s; the mean response time is half of the longest, as when one burst drains",
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
            "100/s was not sustained: 70/s were good, 30.0 % of the exchanges failed or were never started, and the backlog did not grow",
        );
        let mut late = data(700, (3, 2), &[10; 700]);
        fails(&mut late, OutcomeClass::TimedOut, 300);
        let bearing = judge(&late, &figures(&late), None).unwrap();
        assert_eq!(bearing.manner, Manner::Queues);
    }

    /// Ten exchanges an iteration: sixty failures of ten thousand exchanges are no six per cent, whatever they are of the arrivals.
    #[test]
    fn exchanges_are_held_against_exchanges() {
        let mut steps = data(9_940, (3, 2), &[10; 700]);
        fails(&mut steps, OutcomeClass::CheckFailed, 60);
        steps.steps[0].sent = 10_000;
        check(
            &steps,
            None,
            Manner::Sustains,
            "100 iterations/s was sustained: 994 exchanges/s were good",
        );
        // An arrival that is never started misses all of its exchanges.
        (steps.sent, steps.dropped) = (900, 100);
        steps.steps[0].sent = 9_000;
        let bearing = judge(&steps, &figures(&steps), None).unwrap();
        assert_eq!(bearing.manner, Manner::Sheds);
        assert!((bearing.lost_share - 0.106).abs() < 1e-9, "{bearing:?}");
    }

    #[test]
    fn seconds_tell_deadlines_from_refusals() {
        let second = Second {
            answered: 70.0,
            good: 70.0,
            sent: 100.0,
            begun: 100.0,
            failed: 30,
            dropped: 0,
            backlog: 5,
        };
        let of = |fails_late| {
            let part = LoadPart {
                offered_per_s: 100.0,
                best_per_s: None,
                fails_late,
            };
            of_seconds(&[second; 10], part).manner
        };
        assert_eq!([of(false), of(true)], [Manner::Sheds, Manner::Queues]);
    }

    #[test]
    fn less_than_at_a_lower_rate_is_a_collapse() {
        check(
            &data(200, (30, 500), &[10; 200]),
            Some(90.0),
            Manner::Collapses,
            "100/s was not sustained: only 20/s were good, fewer than at a lower rate",
        );
    }

    #[test]
    fn users_are_offered_no_rate() {
        let mut closed = data(700, (3, 2), &[10; 700]);
        closed.model = LoadModel::Closed;
        assert_eq!(judge(&closed, &figures(&closed), None), None);
    }
}
