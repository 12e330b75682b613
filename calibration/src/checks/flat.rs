//! The generator's memory must not move while it records at a high rate.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Trouble, measure};
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

/// How far it may be from the middle of its range.
const SHARE: f64 = 0.01;
/// Arrivals per second.
const RATE: u32 = 50_000;
/// Of the arrivals, so many must have been sent: with fewer it was another load.
const SENT: f64 = 0.99;
/// How often memory is read.
const EVERY: Duration = Duration::from_millis(500);

/// Resident memory in KiB while the load lasts.
#[derive(Debug, Clone, Copy)]
struct Range {
    least: f64,
    most: f64,
    readings: u32,
}

fn run(bench: &Bench) -> Result<Vec<Bar>, Trouble> {
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
    Ok(vec![bar(seconds, first, range(&readings), sent)])
}

fn range(readings: &[f64]) -> Range {
    Range {
        least: readings.iter().copied().fold(f64::INFINITY, f64::min),
        most: readings.iter().copied().fold(0.0, f64::max),
        readings: u32::try_from(readings.len()).unwrap_or(u32::MAX),
    }
}

/// `sent`: the share of the planned arrivals that were sent.
fn bar(seconds: u32, first: u64, range: Range, sent: f64) -> Bar {
    let middle = f64::midpoint(range.least, range.most);
    let share = range.most / middle - 1.0;
    Bar::judged(
        format!("resident memory from second {first} of {seconds} s at {RATE}/s"),
        format!(
            "the same ± {:.0} %, at least {:.0} % of the arrivals sent",
            SHARE * 100.0,
            SENT * 100.0
        ),
        format!(
            "{:.2} to {:.2} MiB (± {:.2} %) in {} readings; {:.2} % sent",
            range.least / 1024.0,
            range.most / 1024.0,
            share * 100.0,
            range.readings,
            sent * 100.0
        ),
        range.readings > 0 && share <= SHARE && sent >= SENT,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar::Verdict;

    #[test]
    fn memory_is_flat_within_a_hundredth_of_the_middle_under_the_planned_load() {
        let check = |readings: &[f64], sent, expected| {
            let bar = bar(300, 30, range(readings), sent);
            assert_eq!(bar.verdict, Verdict::of(expected), "{}", bar.measured);
        };
        check(&[1_000.0, 1_010.0, 1_019.0], 1.0, true);
        check(&[1_000.0, 1_021.0], 1.0, false);
        check(&[1_000.0, 1_000.0], 0.98, false);
        check(&[], 1.0, false);
    }
}
