//! What is read once for all components of a sample.

use super::processors::Processors;
use super::steal::MachineTimes;
use crate::process_tree::ProcessTree;
use std::fs;
use tokio::time::Instant;

/// The machine at one moment.
#[derive(Debug, Clone)]
pub struct Moment {
    /// When.
    pub now: Instant,
    /// Its processes.
    pub tree: ProcessTree,
    pub(super) processors: Processors,
    pub(super) times: Option<MachineTimes>,
}

impl Moment {
    /// The machine now.
    #[must_use]
    pub fn read(now: Instant) -> Self {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        Self {
            now,
            tree: ProcessTree::read(),
            processors: Processors::parse(&stat),
            times: MachineTimes::parse(&stat),
        }
    }

    /// The processes below `shim`, itself excluded.
    #[must_use]
    pub fn below(&self, shim: u32) -> Vec<u32> {
        let processes = self.tree.descendants(shim).into_iter();
        processes
            .filter(|process| !process.ended)
            .map(|process| process.pid)
            .collect()
    }
}
