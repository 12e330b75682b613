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
