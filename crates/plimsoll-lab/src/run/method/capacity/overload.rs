//! Behaviour above capacity, second by second: how the target failed, and when it was itself again.

use plimsoll_report::bearing;
use plimsoll_report::record::{LoadRow, Objective, Overload, Statistic};

/// Rate offered afterwards, as a share of the lower bound: well within capacity, so that only the backlog stands against recovery.
pub const RECOVERY: f64 = 0.7;

/// Facts of an overload before its seconds are looked at.
pub struct OverloadFacts {
    /// The number of its trial.
    pub trial: u32,
    /// The rate that was offered.
    pub rate_per_s: f64,
    /// Rate offered afterwards.
    pub recovery_rate_per_s: f64,
    /// How long it lasted, warm-up included.
    pub overload_s: f64,
    /// The highest throughput of good trials at lower rates.
    pub best_per_s: Option<f64>,
    /// Whether most of what failed in the trial was given up at its deadline.
    pub fails_late: bool,
}

/// Looks at the seconds of the overload and of the recovery after it.
#[must_use]
pub fn observe(seconds: &[LoadRow], seen: &OverloadFacts, objective: &Objective) -> Overload {
    let start = seconds.first().map_or(0.0, |row| row.t);
    let is_over = |row: &&LoadRow| row.t - start >= seen.overload_s - 0.5;
    let during: Vec<&LoadRow> = seconds.iter().filter(|row| !is_over(row)).collect();
    let after: Vec<&LoadRow> = seconds.iter().filter(is_over).collect();
    let measured: Vec<bearing::Second> = during
        .iter()
        .filter(|row| !row.warmup)
        .map(|row| second(row))
        .collect();
    let bad = met(&after, objective).iter().rposition(|met| !met);
    #[expect(clippy::cast_precision_loss, reason = "seconds of one trial")]
    let [recovered, watched] = [bad.map_or(0, |at| at + 1), after.len()].map(|n| n as f64);
    Overload {
        trial: seen.trial,
        rate_per_s: seen.rate_per_s,
        bearing: bearing::of_seconds(
            &measured,
            bearing::LoadPart {
                offered_per_s: seen.rate_per_s,
                best_per_s: seen.best_per_s,
                fails_late: seen.fails_late,
            },
        ),
        recovery_rate_per_s: seen.recovery_rate_per_s,
        recovered_after_s: (recovered < watched).then_some(recovered),
        watched_s: watched,
    }
}

fn second(row: &LoadRow) -> bearing::Second {
    bearing::Second {
        answered: row.achieved_per_s,
        good: row.good_per_s,
        sent: row.sent_per_s,
        begun: row.exchanges_per_s,
        failed: row.failed,
        dropped: row.dropped,
        backlog: backlog(row),
    }
}

/// Second by second, whether the objective was met. One in which nothing ended says nothing by itself: what was under way is judged when
/// it ends, so such a second is what the next one is, and one that no other follows is not met while something is under way.
fn met(rows: &[&LoadRow], objective: &Objective) -> Vec<bool> {
    let mut next = rows.last().is_none_or(|row| backlog(row) == 0);
    let judged = rows.iter().rev().map(|row| {
        let lost = row.failed + row.dropped;
        if row.achieved_per_s > 0.0 || lost > 0 {
            next = is_met(row, objective);
        }
        next
    });
    let mut met: Vec<bool> = judged.collect();
    met.reverse();
    met
}

fn backlog(row: &LoadRow) -> u64 {
    row.in_flight + row.waiting
}

/// Whether the exchanges that ended in a second met the objective. A p99.9 is held against the p99: a second has too few for more.
fn is_met(row: &LoadRow, objective: &Objective) -> bool {
    let times = &row.response_time;
    let value = |figure: Statistic| match figure {
        Statistic::P50 | Statistic::Mean => times.p50,
        Statistic::P75 => times.p75,
        Statistic::P90 => times.p90,
        Statistic::P95 => times.p95,
        Statistic::P99 | Statistic::P999 => times.p99,
    };
    let within = objective
        .limits
        .iter()
        .all(|limit| value(limit.figure).is_none_or(|value| value <= limit.at_most_s));
    #[expect(clippy::cast_precision_loss, reason = "counts of one second")]
    let lost = (row.failed + row.dropped) as f64;
    within && lost <= objective.errors * row.exchanges_per_s.max(row.achieved_per_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_report::record::{Limit, Manner, SecondTimes};

    fn row(t: f64, answered: f64, in_flight: u64, p99: f64) -> LoadRow {
        LoadRow {
            t,
            arm: "a".to_owned(),
            block: 9,
            warmup: t < 101.0,
            offered_per_s: Some(130.0),
            sent_per_s: 130.0,
            exchanges_per_s: 130.0,
            achieved_per_s: answered,
            good_per_s: answered,
            failed: 0,
            dropped: 0,
            active_users: 0,
            connections: 50,
            connected: 0,
            reconnected: 0,
            in_flight,
            waiting: 0,
            response_time: SecondTimes {
                p99: Some(p99),
                ..SecondTimes::default()
            },
        }
    }

    /// Seconds of the recovery by their p99; without one nothing ended in it.
    fn check(recovery: &[Option<f64>], recovered: Option<f64>) {
        let found = observed(recovery);
        assert_eq!(found.bearing.manner, Manner::Queues);
        assert_eq!(found.recovered_after_s, recovered, "{recovery:?}");
        assert_eq!(
            found.watched_s,
            f64::from(u32::try_from(recovery.len()).unwrap())
        );
    }

    fn observed(recovery: &[Option<f64>]) -> Overload {
        let mut rows: Vec<LoadRow> = (0..5_u32)
            .map(|n| row(100.0 + f64::from(n), 100.0, 30 * u64::from(n), 0.3))
            .collect();
        let after = (5_u32..).zip(recovery);
        rows.extend(after.map(|(n, p99)| {
            let answered = p99.map_or(0.0, |_| 120.0);
            let mut row = row(100.0 + f64::from(n), answered, 5, 0.0);
            row.response_time.p99 = *p99;
            row
        }));
        let objective = Objective {
            limits: vec![Limit {
                figure: Statistic::P99,
                at_most_s: 0.2,
            }],
            errors: 0.001,
        };
        let seen = OverloadFacts {
            trial: 9,
            rate_per_s: 130.0,
            recovery_rate_per_s: 70.0,
            overload_s: 5.0,
            best_per_s: Some(100.0),
            fails_late: false,
        };
        observe(&rows, &seen, &objective)
    }

    #[test]
    fn recovery_is_from_when_on_the_objective_is_met() {
        let (good, bad) = (Some(0.1), Some(0.3));
        check(&[good, good, good], Some(0.0));
        check(&[bad, bad, good, good], Some(2.0));
        // A good second among bad ones is not recovery.
        check(&[bad, good, bad, good], Some(3.0));
        check(&[bad, good, bad], None);
    }

    #[test]
    fn a_silent_second_is_no_recovery() {
        let (good, bad) = (Some(0.1), Some(0.3));
        // Stalled until the end.
        check(&[None, None, None], None);
        check(&[bad, good, None], None);
        // What waited meanwhile ends too late, or in time.
        check(&[None, None, bad, good], Some(3.0));
        check(&[bad, None, good, good], Some(1.0));
    }
}
