//! The generator's memory must not move while it records at a high rate.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error, measure};
use crate::clock;
use crate::memory_of::{self, Memory};
use crate::mock::Mock;
use serde_json::json;
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "flat",
    about: "the generator's resident memory through five minutes at 50,000/s",
    run,
};

/// By how much its median may change from the first part to the last.
const SHARE: f64 = 0.01;
/// Of the readings, the first and the last of this share are compared.
const PART: usize = 5;
/// Arrivals per second.
const RATE: u32 = 50_000;
/// Of the arrivals, so many must have been sent: with fewer it was another load.
const SENT: f64 = 0.99;
/// How often memory is read.
const EVERY: Duration = Duration::from_millis(500);

/// Resident memory in KiB while the load lasts. A second that is handed over is held for a moment, and a stall fills queues up to their
/// limit: single readings may be higher, and are shown.
#[derive(Debug, Clone, Copy)]
struct Course {
    first: f64,
    last: f64,
    least: f64,
    most: f64,
}

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    // Histograms are there, buffers have their size and the code has been read when the first part is over.
    let (seconds, first) = bench.pick((300, 30), (5, 2));
    let mock = Mock::start(bench, &[])?;
    let load = json!({ "rate": format!("{RATE}/s"), "duration": format!("{seconds}s") });
    let mut running = bench.start(
        &measure(mock.address, "/json/valid", load),
        f64::from(seconds),
    )?;
    let generator = running.generator()?;
    let start = clock::now();
    let mut readings = Vec::new();
    // The end of a run is not the load: what is left of the last second stays out.
    let (from, until) = (
        Duration::from_secs(first),
        Duration::from_secs(u64::from(seconds) - 1),
    );
    while !running.has_ended()? {
        let age = clock::now() - start;
        if (from..until).contains(&age) {
            readings.extend(memory_of::kib(generator, Memory::Resident));
        }
        clock::pause(EVERY);
    }
    let outcome = running.finish()?;
    mock.stop()?;
    let sent = outcome.main("sent")? / f64::from(RATE * seconds);
    Ok(vec![bar(seconds, first, course(&readings), sent)])
}

/// None without a reading in every part.
fn course(readings: &[f64]) -> Option<Course> {
    let part = readings.len() / PART;
    Some(Course {
        first: median(readings.get(..part)?)?,
        last: median(readings.get(readings.len() - part..)?)?,
        least: readings.iter().copied().fold(f64::INFINITY, f64::min),
        most: readings.iter().copied().fold(0.0, f64::max),
    })
}

fn median(readings: &[f64]) -> Option<f64> {
    let mut sorted = readings.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

/// `sent`: the share of the planned arrivals that were sent.
fn bar(seconds: u32, after: u64, course: Option<Course>, sent: f64) -> Bar {
    let change = course.map(|course| course.last / course.first - 1.0);
    let figure = course.map_or("no readings".to_owned(), |course| {
        let mib = |kib: f64| kib / 1024.0;
        format!(
            "{:.2} and {:.2} MiB ({:+.2} %); single readings {:.2} to {:.2} MiB",
            mib(course.first),
            mib(course.last),
            change.unwrap_or(f64::NAN) * 100.0,
            mib(course.least),
            mib(course.most),
        )
    });
    Bar::judged(
        format!(
            "resident memory at {RATE}/s, first and last fifth of seconds {after} to {seconds}"
        ),
        format!(
            "medians the same ± {:.0} %, at least {:.0} % of the arrivals sent",
            SHARE * 100.0,
            SENT * 100.0
        ),
        format!("{figure}; {:.2} % sent", sent * 100.0),
        change.is_some_and(|change| change.abs() <= SHARE) && sent >= SENT,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar::Verdict;

    #[test]
    fn memory_is_flat_if_its_medians_are_alike_under_the_planned_load() {
        let check = |readings: &[f64], sent, expected| {
            let bar = bar(300, 30, course(readings), sent);
            assert_eq!(bar.verdict, Verdict::of(expected), "{}", bar.measured);
        };
        let flat = [1_000.0, 1_200.0, 1_003.0, 1_001.0, 1_009.0];
        check(&flat, 1.0, true);
        check(&flat, 0.98, false);
        let mut grows: Vec<f64> = (0..100).map(|second| 1_000.0 + f64::from(second)).collect();
        check(&grows, 1.0, false);
        grows.reverse();
        check(&grows, 1.0, false);
        check(&[1_000.0], 1.0, false);
        check(&[], 1.0, false);
    }
}
