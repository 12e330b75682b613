//! How long and how often CPU quotas held a process back, from `cpu.stat` of its control group and of those above it.

use crate::kernel_file;
use std::path::{Path, PathBuf};

/// The groups whose quotas bind a process, its own first.
pub(super) fn groups(own: &Path) -> Vec<PathBuf> {
    let files = own.ancestors().map(|group| group.join("cpu.stat"));
    files.take_while(|file| file.exists()).collect()
}

/// Seconds since the group exists for which its processes were held back, added up over processors; `None` when it is gone.
pub(super) fn seconds(file: &Path) -> Option<f64> {
    parse(&kernel_file::read(file).ok()?)
}

/// Periods of the group's quota since it exists, and those of them in which it was used up; `None` when the group is gone.
pub(super) fn periods(file: &Path) -> Option<(u64, u64)> {
    parse_periods(&kernel_file::read(file).ok()?)
}

fn parse_periods(stat: &str) -> Option<(u64, u64)> {
    Some((value(stat, "nr_periods")?, value(stat, "nr_throttled")?))
}

/// Version 1 says `throttled_time` in nanoseconds, version 2 `throttled_usec`; a group without a quota may say neither.
#[expect(clippy::cast_precision_loss, reason = "exact for 100 days")]
fn parse(stat: &str) -> Option<f64> {
    value(stat, "throttled_time")
        .map(|nanos| nanos as f64 * 1e-9)
        .or_else(|| value(stat, "throttled_usec").map(|micros| micros as f64 * 1e-6))
}

fn value(stat: &str, wanted: &str) -> Option<u64> {
    let mut lines = stat.lines().filter_map(|line| line.split_once(' '));
    let (_, value) = lines.find(|(name, _)| *name == wanted)?;
    value.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_text() {
        let check = |text: &str, expected: Option<f64>| assert_eq!(parse(text), expected);
        check(
            "nr_periods 40\nnr_throttled 3\nthrottled_time 250000000\n",
            Some(0.25),
        );
        check(
            "usage_usec 9\nnr_throttled 3\nthrottled_usec 250000\n",
            Some(0.25),
        );
        check("usage_usec 9\n", None);
        let text = "nr_periods 40\nnr_throttled 3\nthrottled_time 250000000\n";
        assert_eq!(parse_periods(text), Some((40, 3)));
        assert_eq!(parse_periods("usage_usec 9\n"), None);
    }

    #[test]
    fn a_directory_without_groups_has_none() {
        assert_eq!(groups(Path::new("/proc/self")), Vec::<PathBuf>::new());
    }
}
