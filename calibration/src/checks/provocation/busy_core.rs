//! The generator shares one processor with busy loops.

use super::{Provocation, SECONDS};
use crate::bench::{Bench, Outcome, Trouble, measure};
use crate::mock::Mock;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};

pub const PROVOCATION: Provocation = Provocation {
    what: "busy loops on the generator's core",
    criteria: &[4],
    provoke,
};

/// Loops beside the generator: it gets a quarter of the processor when it wants more.
const LOOPS: usize = 3;
/// Arrivals a second, which take more than half of a processor. A generator that wants less than its share is woken at once, loops or no
/// loops, and is right not to complain.
const RATE: u32 = 30_000;

fn provoke(bench: &Bench) -> Result<Outcome, Trouble> {
    let mock = Mock::start(bench, &[])?;
    let load = json!({ "rate": format!("{RATE}/s"), "duration": format!("{SECONDS}s") });
    let running = bench.start(&measure(mock.address, "/json/valid", load), SECONDS)?;
    let core = last_core()?;
    pin(running.generator()?, &core)?;
    let stop = AtomicBool::new(false);
    let outcome = std::thread::scope(|scope| {
        for _ in 0..LOOPS {
            scope.spawn(|| spin(&core, &stop));
        }
        let outcome = running.finish();
        stop.store(true, Ordering::Relaxed);
        outcome
    })?;
    mock.stop()?;
    Ok(outcome)
}

fn last_core() -> Result<CpuSet, Trouble> {
    let allowed = sched_getaffinity(None).map_err(pinning)?;
    let last = (0..CpuSet::MAX_CPU).rev().find(|cpu| allowed.is_set(*cpu));
    let mut core = CpuSet::new();
    core.set(last.unwrap_or(0));
    Ok(core)
}

/// Pins every thread that a process has.
fn pin(process: Pid, core: &CpuSet) -> Result<(), Trouble> {
    let tasks = format!("/proc/{}/task", process.as_raw_nonzero());
    let tasks = std::fs::read_dir(tasks).map_err(|e| Trouble::io("listing threads", e))?;
    for task in tasks {
        let name = task
            .map_err(|e| Trouble::io("listing threads", e))?
            .file_name();
        let thread = name
            .to_str()
            .and_then(|text| text.parse().ok())
            .and_then(Pid::from_raw);
        if let Some(thread) = thread {
            sched_setaffinity(Some(thread), core).map_err(pinning)?;
        }
    }
    Ok(())
}

fn spin(core: &CpuSet, stop: &AtomicBool) {
    if let Err(error) = sched_setaffinity(None, core) {
        crate::say(&format!("calibration: a busy loop is not pinned: {error}"));
    }
    while !stop.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
}

fn pinning(error: rustix::io::Errno) -> Trouble {
    Trouble::io("pinning a thread", error.into())
}
