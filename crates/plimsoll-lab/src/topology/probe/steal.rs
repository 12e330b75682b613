//! Processor time of the machine that the hypervisor gave to others, from `/proc/stat`.

use crate::kernel_file;

/// Totals over all processors since boot, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MachineTimes {
    /// All time.
    total: u64,
    /// Time in which a processor of ours was ready and another guest's ran.
    stolen: u64,
}

impl MachineTimes {
    /// The totals now; `None` when the kernel does not say.
    pub(crate) fn read() -> Option<Self> {
        parse(&kernel_file::read("/proc/stat").ok()?)
    }

    /// The totals in a text of `/proc/stat`.
    pub(crate) fn parse(stat: &str) -> Option<Self> {
        parse(stat)
    }

    /// Ticks that were stolen since `before`, and all ticks.
    pub(crate) fn since(self, before: Self) -> (u64, u64) {
        (
            self.stolen.saturating_sub(before.stolen),
            self.total.saturating_sub(before.total),
        )
    }
}

/// The first line of proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal; the guests' after them are part of user and nice.
fn parse(stat: &str) -> Option<MachineTimes> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let fields: Vec<u64> = line
        .split_ascii_whitespace()
        .take(8)
        .map_while(|field| field.parse().ok())
        .collect();
    Some(MachineTimes {
        total: fields.iter().sum(),
        stolen: *fields.get(7)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_text() {
        let before = parse("cpu  10 0 20 60 0 0 5 5 9 0\ncpu0 1 2 3\n").unwrap();
        let after = parse("cpu  30 0 20 130 0 0 5 15 9 0\n").unwrap();
        assert_eq!(after.since(before), (10, 100));
        assert_eq!(parse("cpu  1 2 3 4\n"), None);
    }
}
