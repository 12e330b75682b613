//! The generator's memory must not grow with the length of a run.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error, measure};
use crate::clock;
use crate::memory_of;
use crate::mock::Mock;
use rustix::process::Pid;
use serde_json::json;
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "memory",
    about: "the generator's largest memory in a short and a long run at 20,000/s",
    run,
};

/// Allowed difference.
const SHARE: f64 = 0.05;

/// Arrivals per second.
const RATE: u32 = 20_000;

/// How often memory is read.
const EVERY: Duration = Duration::from_millis(200);

/// The largest memory of a process, in KiB.
#[derive(Debug, Clone, Copy, Default)]
struct Memory {
    /// All that is resident; the kernel keeps this maximum itself.
    resident: f64,
    /// Memory that the process wrote: heap and stacks, without pages of files.
    own: f64,
}

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let (short, long) = bench.pick((10, 120), (3, 5));
    // Which rare paths of the program a run takes, and so which of its pages it reads, is chance: a short run gets more than one.
    let mut first = Run::of(bench, short)?;
    for _ in 1..bench.pick(3, 1) {
        first = first.worst(Run::of(bench, short)?);
    }
    let second = Run::of(bench, long)?;
    Ok(vec![bar(&first, &second)])
}

/// A run, or the worst of several.
struct Run {
    seconds: u32,
    /// The generator's, at its largest.
    memory: Memory,
    /// Arrivals that there should have been.
    planned: f64,
    intended: f64,
    dropped: f64,
}

/// The memory of both, if both had the load that the figure is about.
fn bar(first: &Run, second: &Run) -> Bar {
    let (short, long) = (first.seconds, second.seconds);
    let [load, longer_load] = [first, second].map(Run::load);
    let is_loaded = first.is_loaded() && second.is_loaded();
    let (first, second) = (first.memory, second.memory);
    let growth = second.resident / first.resident - 1.0;
    let mib = |kib: f64| kib / 1024.0;
    Bar::judged(
        format!("resident memory for {short} s and {long} s"),
        format!("the same ± 5 %, at {RATE}/s with none dropped"),
        format!(
            "{:.2} MiB and {:.2} MiB ({:+.1} %); without pages of files {:.2} MiB and {:.2} MiB; {load} and {longer_load}",
            mib(first.resident),
            mib(second.resident),
            growth * 100.0,
            mib(first.own),
            mib(second.own),
        ),
        growth.abs() <= SHARE && is_loaded,
    )
}

impl Run {
    fn of(bench: &Bench, seconds: u32) -> Result<Self, Error> {
        let mock = Mock::start(bench, &[])?;
        let load = json!({ "rate": format!("{RATE}/s"), "duration": format!("{seconds}s") });
        let mut running = bench.start(
            &measure(mock.address, "/json/valid", load),
            f64::from(seconds),
        )?;
        let generator = running.generator()?;
        let mut memory = Memory::default();
        while !running.has_ended()? {
            memory = memory.max(Memory::of(generator));
            clock::pause(EVERY);
        }
        let outcome = running.finish()?;
        mock.stop()?;
        let run = Self {
            seconds,
            memory,
            planned: f64::from(RATE * seconds),
            intended: outcome.main("intended")?,
            dropped: outcome.main("dropped")?,
        };
        bench.progress(&format!(
            "memory, {seconds} s: {:.0} KiB; {}",
            memory.resident,
            run.load()
        ));
        Ok(run)
    }

    /// The largest memory of both, and the load of one that missed its plan, if one did.
    fn worst(self, other: Self) -> Self {
        let memory = self.memory.max(other.memory);
        let worst = if self.is_loaded() { other } else { self };
        Self { memory, ..worst }
    }

    /// Whether the load was the planned one.
    fn is_loaded(&self) -> bool {
        (self.intended - self.planned).abs() < 0.5 && self.dropped < 0.5
    }

    fn load(&self) -> String {
        let Self {
            planned,
            intended,
            dropped,
            ..
        } = self;
        format!("{intended} of {planned} intended, {dropped} dropped")
    }
}

impl Memory {
    /// Nothing for a process that has ended.
    fn of(process: Pid) -> Self {
        let kib = |memory| memory_of::kib(process, memory).unwrap_or(0.0);
        Self {
            resident: kib(memory_of::Memory::LargestResident),
            own: kib(memory_of::Memory::Own),
        }
    }

    fn max(self, other: Self) -> Self {
        Self {
            resident: self.resident.max(other.resident),
            own: self.own.max(other.own),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar::Verdict;

    #[test]
    fn memory_is_judged_under_the_planned_load() {
        let run = |intended, dropped, resident| Run {
            seconds: 10,
            memory: Memory { resident, own: 1.0 },
            planned: 200_000.0,
            intended,
            dropped,
        };
        let full = || run(200_000.0, 0.0, 1_000.0);
        let check = |first: Run, second: Run, expected| {
            assert_eq!(bar(&first, &second).verdict, expected);
        };
        check(full(), run(200_000.0, 0.0, 1_040.0), Verdict::Held);
        check(full(), run(200_000.0, 0.0, 1_060.0), Verdict::Failed);
        check(full(), run(200_000.0, 3.0, 1_000.0), Verdict::Failed);
        let poor = || run(190_000.0, 0.0, 1_000.0);
        check(full().worst(poor()), full(), Verdict::Failed);
        check(poor().worst(full()), full(), Verdict::Failed);
    }
}
