//! The mock's delays in whole milliseconds, as WireMock has them: a mix of fixed, uniform and log-normal ones at 2,000/s, measured against what was asked for.
//!
//! Each kind has milliseconds of its own, so that a time says which delay it was. How late answers are is read from the fixed ones, behind which there are
//! milliseconds that no delay has; the others are counted by whole milliseconds and held against their distributions by Pearson's test.

use super::{
    Check,
    lognormal::{UNDER_WAY_S, undisturbed},
};
use crate::bar::Bar;
use crate::bench::{Bench, Error};
use crate::interval_log::service_times;
use crate::mock::Mock;
use crate::queueing::{chi_square_quantile, normal_share};
use plimsoll_base::histogram::TimeHistogram;
use serde_json::{Value, json};
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "delays",
    about: "fixed, uniform and log-normal delays in whole milliseconds, mixed, at 2,000/s",
    run,
};

/// How late answers may be at their p99.
const LATE: f64 = 0.001;
/// Milliseconds of the fixed delays, and how many behind each no other delay has.
const FIXED: [(u32, u32); 2] = [(5, 4), (25, 4)];
/// The first and last milliseconds of the uniform delay.
const UNIFORM: (u32, u32) = (10, 19);
/// Median in milliseconds and sigma of the log-normal delay: from 40 to 90 ms but for one in a hundred thousand.
const LOGNORMAL: (f64, f64) = (60.0, 0.09);
/// Where the log-normal delays lie.
const LOGNORMAL_RANGE: (u32, u32) = (35, 100);
/// Bounds of the mock's own buckets of lateness, and what they are called.
const OWN_BOUNDS: [(&str, &str); 4] = [
    ("0.0002", "0.2 ms"),
    ("0.0005", "0.5 ms"),
    ("0.001", "1 ms"),
    ("0.002", "2 ms"),
];
/// One in a thousand tests of a true distribution fails: the standard normal quantile of that.
const Z: f64 = 3.09;
/// Counts below this are put together with the next.
const FEWEST: f64 = 10.0;

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let seconds = bench.pick(60, 4);
    let mock = Mock::start_with(bench, &stubs(), &[])?;
    bench.progress(&format!("delays: one run of {seconds} s"));
    let mark = bench.witness.mark();
    let running = bench.start(&experiment(&mock, seconds), f64::from(seconds))?;
    let first = mock.first_request(Duration::from_secs(15))?;
    let outcome = running.finish()?;
    let own = own_lateness(&mock.ask("GET", "/metrics", "")?);
    mock.stop()?;
    let stalls = bench.witness.stalls_since(&mark);
    let times = undisturbed(
        &service_times(&outcome.log)?,
        f64::from(seconds),
        first,
        UNDER_WAY_S,
        &stalls,
    );
    if times.is_empty() {
        return Err(Error::Missing("a stall in every second".to_owned()));
    }
    let mut bars = vec![Bar::shown(
        "answers in undisturbed seconds",
        "",
        format!(
            "{} of {}; {}",
            times.count(),
            outcome.main("service_time/count")?,
            outcome.verdict()
        ),
    )];
    for (millis, gap) in FIXED {
        bars.push(lateness(&times, millis, gap)?);
    }
    bars.push(own?);
    let (low, high) = UNIFORM;
    let share = 1.0 / f64::from(high - low + 1);
    bars.push(fit("uniform delay", &times, (low, high), |_| share));
    let (median, sigma) = LOGNORMAL;
    bars.push(fit("log-normal delay", &times, LOGNORMAL_RANGE, |millis| {
        let below = |bound: f64| normal_share((bound / median).ln() / sigma);
        below(f64::from(millis) + 0.5) - below(f64::from(millis) - 0.5)
    }));
    Ok(bars)
}

fn stubs() -> Vec<Value> {
    let stub = |path: &str, response: Value| json!({ "request": { "url": path, "method": "GET" }, "response": response });
    let (median, sigma) = LOGNORMAL;
    let mut stubs: Vec<Value> = FIXED
        .iter()
        .map(|(millis, _)| {
            stub(
                &format!("/fixed/{millis}"),
                json!({ "fixedDelayMilliseconds": millis }),
            )
        })
        .collect();
    let uniform = json!({ "type": "uniform", "lower": UNIFORM.0, "upper": UNIFORM.1 });
    stubs.push(stub("/uniform", json!({ "delayDistribution": uniform })));
    let lognormal = json!({ "type": "lognormal", "median": median, "sigma": sigma });
    stubs.push(stub(
        "/lognormal",
        json!({ "delayDistribution": lognormal }),
    ));
    stubs
}

fn experiment(mock: &Mock, seconds: u32) -> Value {
    let paths = ["/fixed/5", "/fixed/25", "/uniform", "/lognormal"];
    let mix: Vec<Value> = paths
        .iter()
        .map(|path| json!({ "steps": [{ "get": path }] }))
        .collect();
    json!({
        "version": 1,
        "name": "calibration",
        "components": { "target": { "external": format!("http://{}", mock.address), "probe": "none" } },
        "scenario": [{ "mix": mix }],
        "load": { "rate": "2000/s", "connections": 400, "duration": format!("{seconds}s") },
        "arms": { "main": { "target": "target" } },
        "method": "measure",
    })
}

/// How late the answers with a fixed delay were: those from its millisecond to the end of the gap behind it.
fn lateness(times: &TimeHistogram, millis: u32, gap: u32) -> Result<Bar, Error> {
    let from = f64::from(millis) / 1e3;
    let early = times.count_at_most(from);
    let count = times.count_at_most(f64::from(millis + gap) / 1e3) - early;
    if count == 0 {
        return Err(Error::Measured(format!("no answer took {millis} ms")));
    }
    let share = |part: f64| {
        #[expect(
            clippy::cast_precision_loss,
            reason = "answers of a run are far below 2^52"
        )]
        let place = (early as f64 + part * count as f64) / times.count() as f64;
        times.quantile(place).unwrap_or(f64::NAN) - from
    };
    let (p50, p99) = (share(0.5), share(0.99));
    Ok(Bar::judged(
        format!("lateness of {millis} ms, p99"),
        format!("at most {:.1} ms", LATE * 1e3),
        format!(
            "{:.3} ms (p50 {:.3} ms) of {count} answers",
            p99 * 1e3,
            p50 * 1e3
        ),
        p99 <= LATE,
    ))
}

/// The lateness of all delays by the mock itself: lateness that is not in it came on the way to the generator.
fn own_lateness(metrics: &str) -> Result<Bar, Error> {
    let within = |bound: &str| -> f64 {
        let samples = metrics.lines().filter_map(|line| line.rsplit_once(' '));
        let bucket = |name: &str| {
            name.starts_with("plimsoll_mock_stub_lateness_seconds_bucket{")
                && name.ends_with(&format!("le=\"{bound}\"}}"))
        };
        let counts = samples.filter(|(name, _)| bucket(name));
        counts
            .filter_map(|(_, count)| count.parse::<f64>().ok())
            .sum()
    };
    let all = within("+Inf");
    if all < 0.5 {
        return Err(Error::Measured("the mock has delayed nothing".to_owned()));
    }
    let shares = OWN_BOUNDS.map(|(bound, words)| {
        let share = within(bound) / all * 100.0;
        format!("{share:.2} % within {words}")
    });
    Ok(Bar::shown(
        "lateness by the mock's own account",
        "",
        format!("{} of {all}", shares.join(", ")),
    ))
}

/// Pearson's test of the counts by whole milliseconds: their shares within the range against `share`.
fn fit(
    what: &str,
    times: &TimeHistogram,
    (low, high): (u32, u32),
    share: impl Fn(u32) -> f64,
) -> Bar {
    let at_most = |millis: u32| times.count_at_most(f64::from(millis) / 1e3);
    #[expect(
        clippy::cast_precision_loss,
        reason = "answers of a run are far below 2^52"
    )]
    let all = (at_most(high + 1) - at_most(low)) as f64;
    let (mut statistic, mut cells) = (0.0, 0_u32);
    let (mut expected, mut seen) = (0.0, 0.0);
    for millis in low..=high {
        #[expect(
            clippy::cast_precision_loss,
            reason = "answers of a run are far below 2^52"
        )]
        let count = (at_most(millis + 1) - at_most(millis)) as f64;
        seen += count;
        expected += share(millis) * all;
        if expected >= FEWEST {
            statistic += (seen - expected) * (seen - expected) / expected;
            cells += 1;
            (expected, seen) = (0.0, 0.0);
        }
    }
    let limit = chi_square_quantile(cells.saturating_sub(1), Z);
    Bar::judged(
        format!("{what}, by whole milliseconds"),
        format!("χ² at most {limit:.1} in {cells} cells"),
        format!("{statistic:.1} of {all} answers"),
        all > 0.0 && statistic <= limit,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar::Verdict;

    fn times(of: impl Iterator<Item = (u64, u64)>) -> TimeHistogram {
        let mut times = TimeHistogram::new();
        for (micros, count) in of {
            times.record_many(micros * 1000, count);
        }
        times
    }

    #[test]
    fn a_fair_delay_fits_and_a_lame_one_does_not() {
        let uniform =
            |range: std::ops::Range<u64>| times(range.map(|millis| (millis * 1000 + 150, 1000)));
        let share = |_| 0.1;
        assert_eq!(
            fit("", &uniform(10..20), UNIFORM, share).verdict,
            Verdict::Held
        );
        assert_eq!(
            fit("", &uniform(10..19), UNIFORM, share).verdict,
            Verdict::Failed
        );
    }

    #[test]
    fn the_mocks_own_lateness_is_that_of_all_stubs() {
        let bucket = |name: &str, stub: &str, bound: &str, count: u32| {
            format!(
                "plimsoll_mock_stub_{name}_seconds_bucket{{stub=\"{stub}\",name=\"\",le=\"{bound}\"}} {count}\n"
            )
        };
        let metrics = [
            bucket("lateness", "a", "0.0002", 9),
            bucket("lateness", "a", "+Inf", 10),
            bucket("lateness", "b", "0.0002", 6),
            bucket("lateness", "b", "+Inf", 10),
            bucket("delay", "b", "0.0002", 10),
        ];
        let bar = own_lateness(&metrics.concat()).unwrap();
        assert!(
            bar.measured.starts_with("75.00 % within 0.2 ms"),
            "{}",
            bar.measured
        );
        assert!(bar.measured.ends_with(" of 20"), "{}", bar.measured);
        assert!(own_lateness("").is_err());
    }

    #[test]
    fn lateness_is_read_behind_a_fixed_delay() {
        let with =
            |late: u64| times([(5_100, 980), (5_000 + late, 20), (12_000, 1000)].into_iter());
        assert_eq!(lateness(&with(900), 5, 4).unwrap().verdict, Verdict::Held);
        assert_eq!(
            lateness(&with(1_500), 5, 4).unwrap().verdict,
            Verdict::Failed
        );
        assert!(lateness(&with(900), 25, 4).is_err());
    }
}
