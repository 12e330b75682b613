//! Readings that are made once for all components of a sample.

use super::namespace::{self, Reading};
use super::processors::Processors;
use super::steal::MachineTimes;
use crate::kernel_file;
use std::cell::RefCell;
use std::collections::HashMap;
use tokio::time::Instant;

/// The machine at one moment.
#[derive(Debug, Clone)]
pub struct Moment {
    /// When.
    pub now: Instant,
    pub(super) processors: Processors,
    pub(super) times: Option<MachineTimes>,
    /// How many processes and threads this host has ever made.
    pub(crate) forks: Option<u64>,
    /// By namespace: read when the first component in it asks.
    namespaces: RefCell<HashMap<u64, Reading>>,
}

impl Moment {
    /// The machine now.
    #[must_use]
    pub fn read(now: Instant) -> Self {
        let stat = kernel_file::read("/proc/stat").unwrap_or_default();
        Self {
            now,
            processors: Processors::parse(&stat),
            times: MachineTimes::parse(&stat),
            forks: forks(&stat),
            namespaces: RefCell::default(),
        }
    }

    /// Counters of the network namespace of a process.
    pub(super) fn namespace_of(&self, pid: u32) -> Reading {
        let Some(namespace) = namespace::of(pid) else {
            return Reading::take(pid);
        };
        let mut known = self.namespaces.borrow_mut();
        let reading = known.entry(namespace);
        reading.or_insert_with(|| Reading::take(pid)).clone()
    }
}

/// The line `processes` of proc_stat(5), which counts threads as well; `None` where it is not counted (gVisor always says 0).
fn forks(stat: &str) -> Option<u64> {
    let mut lines = stat.lines();
    let count = lines.find_map(|line| line.strip_prefix("processes "))?;
    count.parse().ok().filter(|made| *made > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_count_as_forks() {
        let made = || Moment::read(Instant::now()).forks.unwrap();
        let before = made();
        std::thread::spawn(|| ()).join().unwrap();
        assert!(made() > before);
        assert_eq!(forks("cpu 1\nprocesses 77\n"), Some(77));
        assert_eq!(forks("cpu 1\nprocesses 0\n"), None);
        assert_eq!(forks("cpu 1\n"), None);
    }
}
