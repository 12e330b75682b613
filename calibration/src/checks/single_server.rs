//! M/D/1: one server of a known constant service time under Poisson arrivals, whose mean response time has a closed form.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error, measure};
use crate::interval_log::{Interval, response_times};
use crate::queueing::md1_mean_response;
use crate::target::single_server::{Path, Served, SingleServer};
use crate::witness::Gap;
use serde_json::json;
use std::time::{Duration, Instant};

pub const CHECK: Check = Check {
    name: "single-server",
    about: "M/D/1 at 50, 80 and 95 % load; mean response time against Pollaczek and Khinchine",
    run,
};

/// Allowed difference from theory.
const SHARE: f64 = 0.05;

/// The share of a run that must have been left alone for its mean to say anything.
const LEAST: f64 = 0.25;

/// One utilisation.
struct Level {
    percent: u32,
    service: Duration,
    /// Length of the long form in seconds.
    seconds: u32,
}

/// The variance of the mean falls like 1/T and grows like s/(1 − ρ)², hence the lengths; the service is long against what a timer and
/// a loopback connection add.
const LEVELS: [Level; 3] = [
    Level {
        percent: 50,
        service: Duration::from_millis(10),
        seconds: 180,
    },
    Level {
        percent: 80,
        service: Duration::from_millis(4),
        seconds: 420,
    },
    Level {
        percent: 95,
        service: Duration::from_millis(1),
        seconds: 1500,
    },
];

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let bars = LEVELS.iter().flat_map(|level| {
        bench.progress(&level.name());
        let bars = || level.measured(bench, bench.pick(level.seconds, 6));
        Bar::part(&level.name(), bench.witnessed(bars))
    });
    Ok(bars.collect())
}

impl Level {
    fn name(&self) -> String {
        format!("{} % load, {:?} service", self.percent, self.service)
    }

    fn utilisation(&self) -> f64 {
        f64::from(self.percent) / 100.0
    }

    fn measured(&self, bench: &Bench, seconds: u32) -> Result<Vec<Bar>, Error> {
        let rate = self.utilisation() / self.service.as_secs_f64();
        let mark = bench.witness.mark();
        let target = SingleServer::start(self.service)?;
        // No warm-up: the figure is over the same arrivals that the target saw.
        let load = json!({
            "rate": format!("{rate:.3}/s"), "profile": "poisson", "connections": 200, "duration": format!("{seconds}s"),
        });
        let outcome = bench.run(&measure(target.address(), "/", load), f64::from(seconds))?;
        let path = target.stop()?;
        let gaps = bench.witness.stalls_since(&mark);
        let means = self.means(&response_times(&outcome.log)?, &path, &gaps);
        let all = outcome.main("response_time/mean")?;
        let what = format!(
            "{}, {} of {seconds} s undisturbed",
            self.name(),
            means.seconds
        );
        let aside = |of: &str| format!("{of}: mean of the whole run {:.3} ms", all * 1e3);
        if f64::from(means.seconds) < LEAST * f64::from(seconds) {
            return Ok(vec![Bar::not_measured(
                what,
                aside("the machine was too restless"),
            )]);
        }
        let theory = md1_mean_response(self.service.as_secs_f64(), self.utilisation());
        let mut formula = Bar::within(format!("{what}: formula"), means.reported, theory, SHARE);
        // Much of what a sample's mean differs by comes from how many arrived, which is known.
        let came = means.rate * self.service.as_secs_f64();
        let at_came = md1_mean_response(self.service.as_secs_f64(), came);
        formula.measured = aside(&format!(
            "{}; at the load that came, {:.2} %, {:+.2} %",
            formula.measured,
            came * 100.0,
            (means.reported / at_came - 1.0) * 100.0
        ));
        let what = format!("{what}: the recursion over the arrivals that came");
        let recursion = Bar::within(what, means.reported, means.recursion, SHARE);
        Ok(vec![formula, recursion])
    }

    /// Means over the seconds that neither the start from an empty queue nor a gap reaches.
    fn means(&self, reported: &[Interval], path: &Path, gaps: &[Gap]) -> Means {
        let disturbed: Vec<(f64, f64)> = path
            .first
            .into_iter()
            .flat_map(|first| gaps.iter().map(move |gap| (first, gap)))
            .map(|(first, gap)| {
                let end = seconds_between(first, gap.end);
                let length = gap.length.as_secs_f64();
                (end - length, end + self.recovery(length))
            })
            .chain([(0.0, self.recovery(0.0))])
            .collect();
        let is_free = |from: f64, to: f64| disturbed.iter().all(|(a, b)| to <= *a || *b <= from);
        let mut kept = (Served::default(), Served::default(), 0);
        for interval in reported {
            // A second in which nothing was answered has no interval.
            let Some(came) = path.seconds.get(interval.second()) else {
                continue;
            };
            if is_free(interval.start_s, interval.start_s + interval.length_s) {
                kept.0.count += interval.count();
                kept.0.sum_s += interval.sum_s();
                kept.1.count += came.count;
                kept.1.sum_s += came.sum_s;
                kept.2 += 1;
            }
        }
        let mean = |served: Served| served.sum_s / served.count.max(1.0);
        Means {
            seconds: kept.2,
            rate: kept.1.count / f64::from(kept.2.max(1)),
            reported: mean(kept.0),
            recursion: mean(kept.1),
        }
    }

    /// How long a queue remembers that nothing ran for `length` seconds: what has piled up is worked off at the rate 1 − ρ, and then two
    /// and a half relaxation times of about 2·ρ·s / (1 − ρ)².
    fn recovery(&self, length: f64) -> f64 {
        let (load, service) = (self.utilisation(), self.service.as_secs_f64());
        length / (1.0 - load) + 5.0 * load * service / (1.0 - load).powi(2)
    }
}

/// Mean response times in seconds.
struct Means {
    /// Over how many seconds of the run.
    seconds: u32,
    /// Arrivals per second.
    rate: f64,
    /// As the instrument recorded them.
    reported: f64,
    /// From the arrivals that came.
    recursion: f64,
}

fn seconds_between(from: Instant, to: Instant) -> f64 {
    match to.checked_duration_since(from) {
        Some(later) => later.as_secs_f64(),
        None => -(from - to).as_secs_f64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use plimsoll_base::histogram::TimeHistogram;

    /// Without an answer in a second its successors stay where they are.
    #[test]
    fn seconds_are_compared_with_themselves() {
        let interval = |second: u32, time| {
            let mut times = TimeHistogram::new();
            times.record(Duration::from_secs_f64(time));
            Interval {
                start_s: f64::from(second),
                length_s: 1.0,
                times,
            }
        };
        let reported = [interval(0, 0.9), interval(1, 0.015), interval(3, 0.017)];
        let came = [0.9, 0.015, 0.5, 0.017].map(|sum_s| Served { count: 1.0, sum_s });
        let path = Path {
            first: None,
            seconds: came.to_vec(),
        };
        let means = LEVELS[0].means(&reported, &path, &[]);
        assert_eq!(means.seconds, 2);
        assert!((means.recursion - 0.016).abs() < 1e-9);
    }

    /// At half load a service of 10 ms is forgotten after 0.1 s: the first second and the one with the gap are left out.
    #[test]
    fn seconds_that_a_stall_reaches_are_left_out() {
        let first = clock::now();
        let times = [0.9, 0.015, 0.5, 0.017];
        let reported: Vec<Interval> = (0..4)
            .zip(times)
            .map(|(second, time)| {
                let mut times = TimeHistogram::new();
                times.record(Duration::from_secs_f64(time));
                Interval {
                    start_s: f64::from(second),
                    length_s: 1.0,
                    times,
                }
            })
            .collect();
        let came = times.map(|sum_s| Served { count: 1.0, sum_s });
        let path = Path {
            first: Some(first),
            seconds: came.to_vec(),
        };
        let gap = Gap {
            end: first + Duration::from_millis(2_400),
            length: Duration::from_millis(100),
        };
        let means = LEVELS[0].means(&reported, &path, &[gap]);
        assert_eq!(means.seconds, 2);
        assert!((means.reported - 0.016).abs() < 1e-4);
        assert!((means.recursion - 0.016).abs() < 1e-9);
    }
}
