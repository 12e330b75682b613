//! Which processors a program runs on. A child inherits those of the thread that starts it.

use crate::Error;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The two processors of a benchmark; the same one twice on a machine that has no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// Clients, and what stands behind a proxy.
    pub clients: usize,
    /// The server or proxy under comparison, or the target of a generator under comparison.
    pub server: usize,
}

/// The processors of one program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cpus {
    /// This one.
    One(usize),
    /// Both of a placement.
    Both(Placement),
}

impl From<usize> for Cpus {
    fn from(cpu: usize) -> Self {
        Self::One(cpu)
    }
}

impl Placement {
    /// The first two processors that this process may use.
    pub fn of_this_host() -> Result<Self, Error> {
        let allowed = sched_getaffinity(None)
            .map_err(|e| Error::when("reading which processors are free")(e.into()))?;
        let mut cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
        let clients = cpus.next().unwrap_or(0);
        let server = cpus.next().unwrap_or(clients);
        Ok(Self { clients, server })
    }
}

/// Does something on these processors only, then returns to the former ones.
pub fn on<T>(cpus: Cpus, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let refused = |e: rustix::io::Errno| Error::when(format!("moving to {cpus:?}"))(e.into());
    let former = sched_getaffinity(None).map_err(refused)?;
    let mut only = CpuSet::new();
    match cpus {
        Cpus::One(cpu) => only.set(cpu),
        Cpus::Both(Placement { clients, server }) => {
            only.set(clients);
            only.set(server);
        }
    }
    sched_setaffinity(None, &only).map_err(refused)?;
    let result = work();
    sched_setaffinity(None, &former).map_err(refused)?;
    result
}
