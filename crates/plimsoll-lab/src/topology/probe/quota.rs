//! The CPU quota of a control group in cores, from `cpu.max` (version 2) or `cpu.cfs_quota_us` and `cpu.cfs_period_us` (version 1).

use crate::kernel_file;
use std::path::{Path, PathBuf};

/// A group that can have a quota, which may change.
#[derive(Debug, Clone)]
pub(crate) struct Quota {
    /// Quota and period, in one file or in two.
    files: Vec<PathBuf>,
}

impl Quota {
    /// Those that bind a process: of its own group, and of those above it. A group that can have none now is not asked again.
    pub(crate) fn of(own: &Path) -> Vec<Self> {
        own.ancestors().filter_map(Self::of_group).collect()
    }

    fn of_group(group: &Path) -> Option<Self> {
        let both: [&[&str]; 2] = [&["cpu.max"], &["cpu.cfs_quota_us", "cpu.cfs_period_us"]];
        let mut all = both.into_iter().map(|names| Self {
            files: names.iter().map(|name| group.join(name)).collect(),
        });
        all.find(|quota| quota.files.iter().all(|file| file.exists()))
    }

    /// In cores; `None` when there is none at the moment.
    pub(crate) fn cores(&self) -> Option<f64> {
        let texts = self.files.iter().map(kernel_file::read);
        let texts: Vec<String> = texts.collect::<Result<_, _>>().ok()?;
        parse(&texts.join(" "))
    }
}

/// Quota and period, both in microseconds; no quota is `max` or −1.
fn parse(text: &str) -> Option<f64> {
    let mut numbers = text.split_ascii_whitespace();
    let quota: f64 = numbers.next()?.parse().ok()?;
    let period: f64 = numbers.next()?.parse().ok()?;
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_quota_is_in_one_file_or_in_two() {
        let group = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| fs::write(group.path().join(file), text).unwrap();
        let check = |expected: Option<f64>| {
            assert_eq!(Quota::of(group.path())[0].cores(), expected);
        };
        assert!(Quota::of_group(group.path()).is_none());
        write("cpu.cfs_quota_us", "-1\n");
        write("cpu.cfs_period_us", "100000\n");
        check(None);
        write("cpu.cfs_quota_us", "25000\n");
        check(Some(0.25));
        write("cpu.max", "50000 100000\n");
        check(Some(0.5));
        write("cpu.max", "max 100000\n");
        check(None);
    }
}
