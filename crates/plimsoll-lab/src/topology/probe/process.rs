//! Resources of a whole process, threads that ended included, from `/proc/<pid>/stat`: CPU time in whole ticks, and page faults for
//! which a disk was read.

use crate::kernel_file;
use std::time::Duration;

/// Ages come from whole ticks, and a look takes a moment.
const INEXACT_S: f64 = 0.05;

/// Totals of one process since its start, or of one thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ProcessTotals {
    /// CPU time in nanoseconds.
    pub(super) running_ns: u64,
    /// Major page faults.
    pub(super) major_faults: u64,
    /// When it started, in nanoseconds since boot.
    pub(super) started_ns: u64,
}

impl ProcessTotals {
    /// Whether it is clearly older than this many seconds.
    pub(super) fn is_older_than(&self, seconds: f64) -> bool {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let now = Duration::try_from(now).unwrap_or_default();
        let age = now.saturating_sub(Duration::from_nanos(self.started_ns));
        age.as_secs_f64() > seconds + INEXACT_S
    }
}

/// The totals now; `None` when the process is gone.
pub(super) fn read(pid: u32) -> Option<ProcessTotals> {
    let text = kernel_file::read(format!("/proc/{pid}/stat")).ok()?;
    parse(&text, rustix::param::clock_ticks_per_second())
}

/// Fields 12, 14, 15 and 22 of proc_pid_stat(5).
pub(super) fn parse(stat: &str, ticks_per_second: u64) -> Option<ProcessTotals> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split_ascii_whitespace().skip(9);
    let major_faults = fields.next()?.parse().ok()?;
    let mut fields = fields.skip(1);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    let started: u64 = fields.nth(6)?.parse().ok()?;
    let tick_ns = 1_000_000_000 / ticks_per_second.max(1);
    Some(ProcessTotals {
        running_ns: (user + system) * tick_ns,
        major_faults,
        started_ns: started * tick_ns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_text() {
        let stat =
            "77 (tokio-rt (1)) S 1 77 77 0 -1 4194304 99 0 5 0 7 3 0 0 20 0 1 0 113005 3133440 388";
        let expected = ProcessTotals {
            running_ns: 100_000_000,
            major_faults: 5,
            started_ns: 1_130_050_000_000,
        };
        assert_eq!(parse(stat, 100), Some(expected));
        assert_eq!(parse("77 (a) S 1", 100), None);
    }
}
