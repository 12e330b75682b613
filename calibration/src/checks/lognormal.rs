//! The mock delays each answer by a draw from a known distribution; its quantiles must come back.
//!
//! They are judged over the seconds that no stall of the machine reaches: one of 60 ms every ten seconds lengthens half a percent of the
//! answers, which moves a p99 by several percent. The table has the whole run's figures beside them.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error, measure};
use crate::interval_log::{Interval, response_times};
use crate::mock::Mock;
use crate::queueing::lognormal_quantile;
use crate::witness::Gap;
use plimsoll_base::histogram::TimeHistogram;
use serde_json::json;
use std::time::{Duration, Instant};

pub const CHECK: Check = Check {
    name: "lognormal",
    about: "a log-normal delay of median 20 ms and sigma 0.5; quantiles against theory",
    run,
};

/// Allowed difference from theory.
const SHARE: f64 = 0.02;
/// Figures, their shares and their standard normal quantiles.
const FIGURES: [(&str, f64, f64); 3] = [
    ("p50", 0.5, 0.0),
    ("p90", 0.9, 1.281_552),
    ("p99", 0.99, 2.326_348),
];
/// Answers that the bar asks for.
const ANSWERS: u64 = 100_000;
/// How long the longest answers are under way, in seconds.
pub(super) const UNDER_WAY_S: f64 = 0.3;

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let seconds = bench.pick(110, 4);
    let stub = json!({
        "request": { "url": "/delayed", "method": "GET" },
        "response": { "status": 200, "delayDistribution": { "type": "lognormal", "median": 20, "sigma": 0.5 } },
    });
    let mock = Mock::start(bench, &[stub])?;
    bench.progress(&format!("lognormal: one run of {seconds} s"));
    let load = json!({ "rate": "2000/s", "connections": 300, "duration": format!("{seconds}s") });
    let mark = bench.witness.mark();
    let running = bench.start(&measure(mock.address, "/delayed", load), f64::from(seconds))?;
    let first = mock.first_request(Duration::from_secs(15))?;
    let outcome = running.finish()?;
    mock.stop()?;
    let stalls = bench.witness.stalls_since(&mark);
    let intervals = response_times(&outcome.log)?;
    let times = undisturbed(&intervals, f64::from(seconds), first, UNDER_WAY_S, &stalls);
    let mut bars = vec![Bar::judged(
        "answers in undisturbed seconds",
        format!("at least {ANSWERS}"),
        format!(
            "{} of {}; {}",
            times.count(),
            outcome.main("response_time/count")?,
            outcome.verdict()
        ),
        times.count() >= ANSWERS,
    )];
    for (figure, share, z) in FIGURES {
        let all = outcome.main(&format!("response_time/{figure}"))?;
        let theory = lognormal_quantile(0.020, 0.5, z);
        let measured = times
            .quantile(share)
            .ok_or_else(|| Error::Measured("no second without a stall".to_owned()))?;
        let mut bar = Bar::within(figure, measured, theory, SHARE);
        bar.measured = format!("{}; of the whole run {:.3} ms", bar.measured, all * 1e3);
        bars.push(bar);
    }
    Ok(bars)
}

/// The times of whole seconds that no stall reaches, without the first, in which nothing was under way at first. The load's first request was
/// sent at `first`; what is sent during a stall is answered up to `under_way_s` later.
pub(super) fn undisturbed(
    intervals: &[Interval],
    seconds: f64,
    first: Instant,
    under_way_s: f64,
    stalls: &[Gap],
) -> TimeHistogram {
    let reached: Vec<(f64, f64)> = stalls
        .iter()
        .map(|stall| {
            let end = stall.end.saturating_duration_since(first).as_secs_f64();
            (end - stall.length.as_secs_f64(), end + under_way_s)
        })
        .collect();
    let mut times = TimeHistogram::new();
    for interval in intervals {
        let (from, to) = (interval.start_s, interval.start_s + 1.0);
        let is_whole = from >= 0.5 && to <= seconds + 0.5 && interval.length_s > 0.5;
        if is_whole && reached.iter().all(|(a, b)| to <= *a || *b <= from) {
            times.merge(&interval.times);
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn seconds_that_a_stall_reaches_are_left_out() {
        let first = clock::now();
        let interval = |second: u32, length_s| {
            let mut times = TimeHistogram::new();
            times.record(Duration::from_millis(10 + u64::from(second)));
            Interval {
                start_s: f64::from(second),
                length_s,
                times,
            }
        };
        let mut intervals: Vec<Interval> = (0..5).map(|second| interval(second, 1.0)).collect();
        // What ends after the load.
        intervals.push(interval(5, 0.0));
        let stall = Gap {
            end: first + Duration::from_millis(2_800),
            length: Duration::from_millis(60),
        };
        let times = |under_way_s| undisturbed(&intervals, 5.0, first, under_way_s, &[stall]);
        // The second with the stall, and the next, in which what it held up is answered, are left out with the first.
        let some = times(UNDER_WAY_S);
        assert_eq!(some.count(), 2);
        assert!((some.max().unwrap() - 0.014).abs() < 1e-4);
        // What waits for a second and a bit is answered in the one after that.
        let fewer = times(1.3);
        assert_eq!(fewer.count(), 1);
        assert!((fewer.max().unwrap() - 0.011).abs() < 1e-4);
    }
}
