//! Busy loops on one processor: whatever else runs there has to share it.

use crate::bench::Error;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::sync::atomic::{AtomicBool, Ordering};

/// A processor, by its number.
#[derive(Debug, Clone, Copy)]
pub struct Core(usize);

impl Core {
    /// The last one that this process may use.
    pub fn last() -> Result<Self, Error> {
        let allowed =
            sched_getaffinity(None).map_err(|e| Error::io("asking for processors", e.into()))?;
        let last = (0..CpuSet::MAX_CPU).rev().find(|cpu| allowed.is_set(*cpu));
        Ok(Self(last.unwrap_or(0)))
    }

    /// Does something while so many loops keep it busy.
    pub fn busy_while<T>(self, loops: usize, work: impl FnOnce() -> T) -> T {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..loops {
                scope.spawn(|| self.spin(&stop));
            }
            let done = work();
            stop.store(true, Ordering::Relaxed);
            done
        })
    }

    /// Pins every thread that a process has.
    pub fn pin(self, process: Pid) -> Result<(), Error> {
        let listing = |e| Error::at_process("listing threads", e);
        let tasks = format!("/proc/{}/task", process.as_raw_nonzero());
        for task in std::fs::read_dir(tasks).map_err(listing)? {
            let name = task.map_err(listing)?.file_name();
            let thread = name
                .to_str()
                .and_then(|text| text.parse().ok())
                .and_then(Pid::from_raw);
            if let Some(thread) = thread {
                sched_setaffinity(Some(thread), &self.set())
                    .map_err(|e| Error::at_process("pinning a thread", e.into()))?;
            }
        }
        Ok(())
    }

    fn spin(self, stop: &AtomicBool) {
        if let Err(error) = sched_setaffinity(None, &self.set()) {
            crate::say(&format!("calibration: a busy loop is not pinned: {error}"));
        }
        while !stop.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    }

    fn set(self) -> CpuSet {
        let mut set = CpuSet::new();
        set.set(self.0);
        set
    }
}
