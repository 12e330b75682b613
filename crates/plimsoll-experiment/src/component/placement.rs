//! Where processes run: pinned processors and limits on CPU time.

use plimsoll_base::document::Path as Pointer;

use crate::loader::Loader;
use crate::wire::{ComponentWire, GeneratorWire};
use std::ops::RangeInclusive;
use std::time::Duration;

/// Where a process may run, and how much of it. The default is everywhere, unlimited.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Placement {
    /// Processors that it is pinned to; empty: all.
    pub cpus: Vec<u32>,
    /// Most CPU time it may use.
    pub cpu_quota: Option<CpuQuota>,
    /// The host of the network on which it runs; there is one exactly where there is a network.
    pub host: Option<String>,
}

/// A limit on CPU time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuQuota {
    /// In processors.
    pub cores: f64,
    /// How often it is given out.
    pub period: Duration,
}

/// The period of a quota that states none: the kernel's own default, which container runtimes keep.
pub const CPU_PERIOD: Duration = Duration::from_millis(100);

/// Where the load generator runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generator {
    /// Processors that it is pinned to; empty: all.
    pub cpus: Vec<u32>,
    /// Threads.
    pub shards: usize,
}

impl Default for Generator {
    fn default() -> Self {
        Self {
            cpus: Vec::new(),
            shards: 1,
        }
    }
}

/// The periods that the kernel accepts, and the shortest share of one (`kernel/sched/core.c`: `min_cfs_quota_period`, `max_cfs_quota_period`).
const SHORTEST_PERIOD: Duration = Duration::from_millis(1);
const LONGEST_PERIOD: Duration = Duration::from_secs(1);
const SHORTEST_SHARE: Duration = Duration::from_millis(1);

/// More than any host has; the largest number that the system's processor sets hold.
const MAX_CPU: u32 = 1023;

/// Amounts of processors that a component can be held to.
pub(crate) fn possible_cores() -> RangeInclusive<f64> {
    0.01..=f64::from(MAX_CPU)
}

pub(super) fn convert(
    loader: &mut Loader<'_>,
    wire: &ComponentWire,
    is_external: bool,
    at: &Pointer,
) -> Placement {
    if is_external {
        for (key, written) in [
            ("host", wire.host.is_some()),
            ("cpus", wire.cpus.is_some()),
            ("cpu_quota", wire.cpu_quota.is_some()),
            ("cpu_period", wire.cpu_period.is_some()),
        ] {
            if written {
                loader.refuse_key(
                    at.key(key),
                    "an external component is not started here, so it cannot be placed: remove it",
                );
            }
        }
        return Placement::default();
    }
    Placement {
        cpus: cpus(loader, wire.cpus.as_deref(), &at.key("cpus")),
        cpu_quota: quota(loader, wire, at),
        host: wire.host.clone(),
    }
}

fn quota(loader: &mut Loader<'_>, wire: &ComponentWire, at: &Pointer) -> Option<CpuQuota> {
    let period = wire.cpu_period.map(|period| *period);
    if period.is_some_and(|period| !(SHORTEST_PERIOD..=LONGEST_PERIOD).contains(&period)) {
        loader.refuse(
            at.key("cpu_period"),
            "the system gives out processor time every `1ms` to `1s`: write for instance `20ms`",
        );
    }
    let Some(cores) = wire.cpu_quota else {
        if period.is_some() {
            loader.refuse_key(
                at.key("cpu_period"),
                "is the period of `cpu_quota`, which is not there: add it, or remove this",
            );
        }
        return None;
    };
    let period = period.unwrap_or(CPU_PERIOD);
    if !possible_cores().contains(&cores) {
        loader.refuse(
            at.key("cpu_quota"),
            format!("`{cores}` is not an amount of processors: write 0.01 or more, such as `0.25`"),
        );
    } else if period.as_secs_f64() * cores < SHORTEST_SHARE.as_secs_f64() {
        loader.refuse(
            at.key("cpu_quota"),
            "is less than `1ms` in each period, the least that the system gives out: write more, or a longer `cpu_period`",
        );
    }
    Some(CpuQuota { cores, period })
}

pub(crate) fn generator(loader: &mut Loader<'_>, wire: &GeneratorWire) -> Generator {
    let at = Pointer::root().key("generator");
    Generator {
        cpus: cpus(loader, wire.cpus.as_deref(), &at.key("cpus")),
        shards: shards(loader, wire.shards, &at.key("shards")).unwrap_or(1),
    }
}

/// A number of threads, as far as one is written.
pub(super) fn shards(loader: &mut Loader<'_>, wire: Option<u32>, at: &Pointer) -> Option<usize> {
    let shards = wire?;
    if !(1..=MAX_CPU + 1).contains(&shards) {
        loader.refuse(
            at,
            format!(
                "`{shards}` is not a number of threads: write 1 to {}",
                MAX_CPU + 1
            ),
        );
    }
    usize::try_from(shards).ok()
}

fn cpus(loader: &mut Loader<'_>, wire: Option<&[u32]>, at: &Pointer) -> Vec<u32> {
    let Some(written) = wire else {
        return Vec::new();
    };
    if written.is_empty() {
        loader.refuse(
            at,
            "names no processor: write for instance `[0]`, or remove it",
        );
    }
    let mut cpus: Vec<u32> = Vec::new();
    for (index, cpu) in written.iter().enumerate() {
        if *cpu > MAX_CPU {
            loader.refuse(
                at.index(index),
                format!("`{cpu}` is not a processor: write 0 to {MAX_CPU}"),
            );
        } else if cpus.contains(cpu) {
            loader.refuse(
                at.index(index),
                format!("processor {cpu} is named twice: keep one"),
            );
        }
        cpus.push(*cpu);
    }
    cpus
}
