//! Probes: what the process tree of a component consumes, sampled about once a second from `/proc`.
//!
//! One file per source. A sampler keeps only what the next difference needs. What the figures mean for a verdict is left to
//! `plimsoll-report`.

mod descriptors;
mod health;
mod memory;
mod segments;
mod steal;
mod threads;
mod throttling;

pub use health::{HealthProbe, Part};
pub(crate) use steal::MachineTimes;

use crate::process_tree::ProcessTree;
use plimsoll_report::record::ComponentSample;
use std::collections::{HashMap, HashSet};
use threads::{ThreadId, ThreadTimes};
use tokio::time::Instant;

/// Samples one process tree. Processes and threads may come and go between samples.
#[derive(Debug, Default)]
pub struct Sampler {
    before: Option<(Instant, Totals)>,
}

/// What a process tree has used since its processes started.
#[derive(Debug, Default)]
struct Totals {
    threads: HashMap<ThreadId, ThreadTimes>,
    /// CPU time by process in nanoseconds, threads that ended included, but only in whole ticks.
    processes: HashMap<u32, u64>,
}

impl Totals {
    fn read(pids: &[u32]) -> Self {
        let processes = pids.iter();
        Self {
            threads: pids.iter().flat_map(|&pid| threads::read(pid)).collect(),
            processes: processes
                .filter_map(|&pid| Some((pid, threads::process_ns(pid)?)))
                .collect(),
        }
    }
}

impl Sampler {
    /// The consumption of everything below the process `shim`, itself excluded, since the sample before; `None` for the
    /// first one and when nothing runs.
    pub fn sample(
        &mut self,
        tree: &ProcessTree,
        shim: u32,
        now: Instant,
    ) -> Option<ComponentSample> {
        let pids: Vec<u32> = tree
            .descendants(shim)
            .iter()
            .filter(|process| !process.ended)
            .map(|process| process.pid)
            .collect();
        let totals = Totals::read(&pids);
        if totals.threads.is_empty() {
            self.before = None;
            return None;
        }
        let threads = totals.threads.len() as u64;
        let (then, before) = self.before.replace((now, totals))?;
        let length_s = now.duration_since(then).as_secs_f64();
        let (_, totals) = self.before.as_ref()?;
        let mut sample = difference(&before, totals, length_s)?;
        sample.threads = threads;
        sample.rss_bytes = pids.iter().filter_map(|&pid| memory::resident(pid)).sum();
        sample.fds = pids.iter().filter_map(|&pid| descriptors::count(pid)).sum();
        Some(sample)
    }
}

/// CPU figures over `length_s` seconds. A thread that is new counts from its start. What a thread used that ended in the
/// interval is known only for its process and only in ticks, so such a process counts with the larger of both figures.
#[expect(
    clippy::cast_precision_loss,
    reason = "nanoseconds of one interval fit a double"
)]
fn difference(before: &Totals, after: &Totals, length_s: f64) -> Option<ComponentSample> {
    if length_s <= 0.0 {
        return None;
    }
    let per_second = |nanos: u64| nanos as f64 * 1e-9 / length_s;
    let mut sample = ComponentSample {
        length_s,
        ..ComponentSample::default()
    };
    let mut by_process: HashMap<u32, u64> = HashMap::new();
    for (id, times) in &after.threads {
        let earlier = before.threads.get(id).copied().unwrap_or_default();
        let running_ns = times.running_ns.saturating_sub(earlier.running_ns);
        *by_process.entry(id.0).or_default() += running_ns;
        // Reading takes a moment: a busy thread may seem to have used slightly more than the time that passed.
        let cores = per_second(running_ns).min(1.0);
        sample.busiest_thread_cores = sample.busiest_thread_cores.max(cores);
        sample.run_delay += per_second(times.waiting_ns.saturating_sub(earlier.waiting_ns));
    }
    let ended = before
        .threads
        .keys()
        .filter(|id| !after.threads.contains_key(id));
    for pid in ended.map(|id| id.0).collect::<HashSet<_>>() {
        if let (Some(then), Some(now)) = (before.processes.get(&pid), after.processes.get(&pid)) {
            let whole = by_process.entry(pid).or_default();
            *whole = (*whole).max(now.saturating_sub(*then));
        }
    }
    sample.cpu_cores = by_process.values().copied().map(per_second).sum();
    Some(sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Threads as (id, running ms, waiting ms), processes as (id, running ms).
    fn totals(threads: &[(ThreadId, u64, u64)], processes: &[(u32, u64)]) -> Totals {
        let thread = |&(id, running, waiting): &(ThreadId, u64, u64)| {
            let times = ThreadTimes {
                running_ns: running * MS,
                waiting_ns: waiting * MS,
            };
            (id, times)
        };
        Totals {
            threads: threads.iter().map(thread).collect(),
            processes: processes.iter().map(|&(pid, ms)| (pid, ms * MS)).collect(),
        }
    }

    fn check(before: &Totals, after: &Totals, expected: (f64, f64, f64)) {
        let sample = difference(before, after, 2.0).unwrap();
        let actual = (
            sample.cpu_cores,
            sample.busiest_thread_cores,
            sample.run_delay,
        );
        assert_eq!(actual, expected);
    }

    #[test]
    fn a_new_thread_counts_from_its_start() {
        let before = totals(&[((1, 1), 5000, 0)], &[(1, 5000)]);
        let after = totals(&[((1, 1), 5500, 200), ((1, 3), 1500, 0)], &[(1, 7000)]);
        check(&before, &after, (1.0, 0.75, 0.1));
    }

    #[test]
    fn what_a_thread_used_before_it_ended_is_counted() {
        let before = totals(&[((1, 1), 5000, 0), ((1, 2), 9000, 0)], &[(1, 14_000)]);
        let after = totals(&[((1, 1), 5500, 0)], &[(1, 16_000)]);
        check(&before, &after, (1.0, 0.25, 0.0));
    }

    #[test]
    fn a_process_that_ended_leaves_the_others_figures_alone() {
        let before = totals(
            &[((1, 1), 5000, 0), ((2, 2), 9000, 0)],
            &[(1, 5000), (2, 9000)],
        );
        let after = totals(&[((1, 1), 6000, 0)], &[(1, 6000)]);
        check(&before, &after, (0.5, 0.5, 0.0));
    }

    #[test]
    fn no_time_no_sample() {
        assert_eq!(
            difference(&Totals::default(), &Totals::default(), 0.0),
            None
        );
    }

    #[test]
    fn this_tests_own_process_is_seen() {
        let tree = ProcessTree::read();
        let parent = std::os::unix::process::parent_id();
        let mut sampler = Sampler::default();
        let now = Instant::now();
        assert_eq!(sampler.sample(&tree, parent, now), None);
        let sample = sampler
            .sample(&tree, parent, now + std::time::Duration::from_secs(1))
            .unwrap();
        assert!(
            sample.threads >= 1 && sample.rss_bytes > 0 && sample.fds > 0,
            "{sample:?}"
        );
    }
}
