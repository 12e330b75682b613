//! The generator's memory must not grow with the length of a run.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Trouble, measure};
use crate::clock;
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

/// How often memory is read.
const EVERY: Duration = Duration::from_millis(200);

/// The largest memory of a process, in KiB.
#[derive(Debug, Clone, Copy, Default)]
struct Memory {
    /// All that is resident; the kernel keeps this maximum itself.
    resident: f64,
    /// What the process wrote: heap and stacks, without pages of files.
    own: f64,
}

fn run(bench: &Bench) -> Result<Vec<Bar>, Trouble> {
    let (short, long) = bench.pick((10, 120), (3, 5));
    // Which rare paths of the program a run takes, and so which of its pages it reads, is chance: a short run gets more than one.
    let mut first = Memory::default();
    for _ in 0..bench.pick(3, 1) {
        first = first.max(largest(bench, short)?);
    }
    let second = largest(bench, long)?;
    let growth = second.resident / first.resident - 1.0;
    let mib = |kib: f64| kib / 1024.0;
    Ok(vec![Bar::judged(
        format!("resident memory for {short} s and {long} s"),
        "the same ± 5 %",
        format!(
            "{:.2} MiB and {:.2} MiB ({:+.1} %); without pages of files {:.2} MiB and {:.2} MiB",
            mib(first.resident),
            mib(second.resident),
            growth * 100.0,
            mib(first.own),
            mib(second.own),
        ),
        growth.abs() <= SHARE,
    )])
}

fn largest(bench: &Bench, seconds: u32) -> Result<Memory, Trouble> {
    let mock = Mock::start(bench, &[])?;
    let load = json!({ "rate": "20000/s", "duration": format!("{seconds}s") });
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
    running.finish()?;
    mock.stop()?;
    bench.progress(&format!("memory, {seconds} s: {:.0} KiB", memory.resident));
    Ok(memory)
}

impl Memory {
    /// Nothing for a process that has ended.
    fn of(process: Pid) -> Self {
        let path = format!("/proc/{}/status", process.as_raw_nonzero());
        Self::parse(&std::fs::read_to_string(path).unwrap_or_default())
    }

    fn parse(status: &str) -> Self {
        let kib = |name: &str| {
            let mut lines = status.lines().filter_map(|line| line.split_once(':'));
            let value = lines.find(|(key, _)| *key == name)?.1;
            value.split_whitespace().next()?.parse().ok()
        };
        Self {
            resident: kib("VmHWM").unwrap_or(0.0),
            own: kib("RssAnon").unwrap_or(0.0),
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

    #[test]
    fn memory_is_read_from_a_process_s_status() {
        let memory = Memory::parse("VmPeak:\t 9 kB\nVmHWM:\t   11556 kB\nRssAnon:\t    3304 kB\n");
        assert!((memory.resident - 11556.0).abs() < f64::EPSILON);
        assert!((memory.own - 3304.0).abs() < f64::EPSILON);
    }
}
