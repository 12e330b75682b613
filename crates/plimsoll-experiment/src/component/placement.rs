//! Where processes run: pinned processors and limits on CPU time.

use plimsoll_base::document::Path as Pointer;

use crate::loader::Loader;
use crate::wire::{ComponentWire, GeneratorWire};

/// Where a process may run, and how much of it. The default is everywhere, unlimited.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Placement {
    /// Processors that it is pinned to; empty: all.
    pub cpus: Vec<u32>,
    /// Most CPU time it may use, in processors.
    pub cpu_quota: Option<f64>,
}

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

/// More than any host has; the largest number that the system's processor sets hold.
const MAX_CPU: u32 = 1023;

pub(super) fn convert(
    loader: &mut Loader<'_>,
    wire: &ComponentWire,
    is_external: bool,
    at: &Pointer,
) -> Placement {
    if is_external {
        for (key, written) in [
            ("cpus", wire.cpus.is_some()),
            ("cpu_quota", wire.cpu_quota.is_some()),
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
    if let Some(quota) = wire.cpu_quota
        && !(0.01..=f64::from(MAX_CPU)).contains(&quota)
    {
        loader.refuse(
            at.key("cpu_quota"),
            format!("`{quota}` is not an amount of processors: write 0.01 or more, such as `0.25`"),
        );
    }
    Placement {
        cpus: cpus(loader, wire.cpus.as_deref(), &at.key("cpus")),
        cpu_quota: wire.cpu_quota,
    }
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
