//! Resources of a component, beside its processor time, that may hold others up: gathers the probes that are of a place (control group, network
//! namespace, processors) and not of a single thread.
//!
//! A component's place is that of its first process. Counters of a network namespace are those of everybody in it.

use super::memory_limit::MemoryLimit;
use super::moment::Moment;
use super::namespace::Reading;
use super::pressure::{Shares, Waited};
use super::processors::{Allowed, Processors};
use super::quota::Quota;
use super::{conntrack, descriptors, ports, throttling};
use crate::topology::cgroup::Groups;
use plimsoll_report::record::Strain;
use std::io::ErrorKind;
use std::path::PathBuf;

/// Where a component's processes are, which hardly ever changes while they run.
#[derive(Debug, Clone)]
pub(super) struct ProcessPlaces {
    first: u32,
    allowed: Option<Allowed>,
    /// `cpu.stat` of its group and of those above it.
    throttling: Vec<PathBuf>,
    quotas: Vec<Quota>,
    memory: Vec<MemoryLimit>,
    /// Its group of version 2, unless the lab is in it too: what that waits for is not the component's.
    own_group: Option<PathBuf>,
    ports: Option<u64>,
    denied: bool,
}

/// Periods of a quota, and those of them that were throttled; `None` where a group has no such account.
type Periods = Option<(u64, u64)>;

/// Totals of a place.
#[derive(Debug, Clone, Default)]
pub(super) struct Strains {
    processors: Processors,
    allowed: Option<Allowed>,
    /// By group.
    periods: Vec<Periods>,
    waited: Option<Waited>,
    namespace: Reading,
}

impl ProcessPlaces {
    /// That of processes of which there is at least one.
    pub(super) fn of(pids: &[u32]) -> Self {
        let first = pids.first().copied().unwrap_or_default();
        let groups = Groups::of(first);
        let labs_own = Groups::of(std::process::id()).unified;
        let (cpu, memory) = (groups.cpu.as_deref(), groups.memory.as_deref());
        Self {
            first,
            allowed: Allowed::of(pids),
            throttling: cpu.map(throttling::groups).unwrap_or_default(),
            quotas: cpu.map(Quota::of).unwrap_or_default(),
            memory: memory.map(MemoryLimit::of).unwrap_or_default(),
            own_group: groups.unified.filter(|own| Some(own) != labs_own.as_ref()),
            ports: ports::there_are(),
            denied: is_denied(first),
        }
    }

    pub(super) fn is_of(&self, first: u32) -> bool {
        self.first == first
    }

    pub(super) fn denied(&self) -> Option<&'static str> {
        let words = "descriptors cannot be read: its processes belong to somebody else";
        self.denied.then_some(words)
    }

    /// The tightest quota at the moment.
    fn quota_cores(&self) -> Option<f64> {
        let quotas = self.quotas.iter().filter_map(Quota::cores);
        quotas.reduce(f64::min)
    }

    /// Adds levels, and what `of_processes` says, to what was counted.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub(super) fn fill(
        &self,
        counted: Strain,
        namespace: &Reading,
        pids: &[u32],
        listening: &[u16],
        of_processes: Strain,
    ) -> Strain {
        let allowed = self.allowed.as_ref().map(Allowed::count);
        let quota_cores = self.quota_cores();
        let limits = [allowed, quota_cores].into_iter().flatten();
        let memory = self.memory.iter().filter_map(MemoryLimit::share);
        let taken = namespace.taken.zip(self.ports);
        Strain {
            cpu_limit_cores: limits.reduce(f64::min),
            cpu_quota_cores: quota_cores,
            busiest_process_cores: of_processes.busiest_process_cores,
            busiest_thread_ready: of_processes.busiest_thread_ready,
            major_faults: of_processes.major_faults,
            memory_share: memory.reduce(f64::max),
            fds_share: pids
                .iter()
                .filter_map(|&pid| descriptors::share(pid))
                .reduce(f64::max),
            accept_queue: namespace.longest_queue(listening),
            ports_share: taken.map(|(taken, there_are)| taken as f64 / there_are as f64),
            conntrack_share: conntrack::share(),
            ..counted
        }
    }
}

impl Strains {
    pub(super) fn read(place: &ProcessPlaces, moment: &Moment) -> Self {
        let groups = place.throttling.iter();
        Self {
            processors: moment.processors.clone(),
            allowed: place.allowed.clone(),
            periods: groups.map(|file| throttling::periods(file)).collect(),
            waited: place.own_group.as_deref().map(Waited::of_group),
            namespace: moment.namespace_of(place.first),
        }
    }

    /// Counters of the whole network namespace.
    pub(super) fn namespace(&self) -> &Reading {
        &self.namespace
    }

    /// Counts of the `length_s` seconds since `before`, of a component that listens on ports.
    pub(super) fn since(&self, before: &Self, length_s: f64, listening: &[u16]) -> Strain {
        let of = |after: Option<u64>, before: Option<u64>| Some(after?.saturating_sub(before?));
        let (now, then) = (&self.namespace, &before.namespace);
        let segments = now.segments.zip(then.segments);
        let segments = segments.map(|(after, before)| after.since(before));
        let waited = self.waited.zip(before.waited);
        let waited = waited.map_or(Shares::default(), |(after, before)| {
            after.since(before, length_s)
        });
        Strain {
            cpus_busy_share: self
                .processors
                .busy_since(&before.processors, self.allowed.as_ref()),
            throttled_share: self.throttled_since(before),
            cpu_pressure: waited.cpu,
            memory_pressure: waited.memory,
            io_pressure: waited.io,
            listen_overflows: of(now.overflows, then.overflows),
            listen_drops: now.drops_since(then, listening),
            segments_again: segments.map(|(again, _)| again),
            segments_sent: segments.map(|(_, sent)| sent),
            conntrack_drops: of(now.drops, then.drops),
            ..Strain::default()
        }
    }

    /// The largest share of periods that were throttled among the groups; without a quota none is.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    fn throttled_since(&self, before: &Self) -> Option<f64> {
        let groups = self.periods.iter().zip(&before.periods);
        let share = |(after, before): (&Periods, &Periods)| {
            let (after, before) = ((*after)?, (*before)?);
            let periods = after.0.saturating_sub(before.0);
            let throttled = after.1.saturating_sub(before.1);
            Some(throttled as f64 / periods.max(1) as f64)
        };
        groups.filter_map(share).reduce(f64::max)
    }
}

/// Whether another user's process hides its descriptors.
fn is_denied(pid: u32) -> bool {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd"));
    entries.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_read_anew_for_each_sample() {
        let above = tempfile::tempdir().unwrap();
        let own = above.path().join("own");
        std::fs::create_dir(&own).unwrap();
        for group in [above.path(), &own] {
            std::fs::write(group.join("cpu.stat"), "nr_periods 0\nnr_throttled 0\n").unwrap();
            std::fs::write(group.join("cpu.max"), "max 100000\n").unwrap();
        }
        let place = ProcessPlaces {
            first: std::process::id(),
            allowed: None,
            throttling: throttling::groups(&own),
            quotas: Quota::of(&own),
            memory: Vec::new(),
            own_group: None,
            ports: None,
            denied: false,
        };
        let check = |group: &std::path::Path, max: &str, expected: Option<f64>| {
            std::fs::write(group.join("cpu.max"), max).unwrap();
            let (counted, of_processes) = (Strain::default(), Strain::default());
            let filled = place.fill(counted, &Reading::default(), &[], &[], of_processes);
            let (quota, limit) = (filled.cpu_quota_cores, filled.cpu_limit_cores);
            assert_eq!((quota, limit), (expected, expected), "{max}");
        };
        check(&own, "max 100000\n", None);
        check(&own, "80000 100000\n", Some(0.8));
        check(above.path(), "50000 100000\n", Some(0.5));
        check(&own, "25000 100000\n", Some(0.25));
        check(&own, "max 100000\n", Some(0.5));
    }

    #[test]
    fn the_most_throttled_group_speaks() {
        let of = |periods: &[Periods]| Strains {
            periods: periods.to_vec(),
            ..Strains::default()
        };
        let before = of(&[Some((10, 0)), Some((100, 5)), None]);
        let after = of(&[Some((20, 4)), Some((100, 5)), None]);
        assert_eq!(after.throttled_since(&before), Some(0.4));
        assert_eq!(of(&[None]).throttled_since(&of(&[None])), None);
    }
}
