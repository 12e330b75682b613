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

use crate::process_tree::ProcessTree;
use plimsoll_report::record::ComponentSample;
use std::collections::HashMap;
use threads::{ThreadId, ThreadTimes};
use tokio::time::Instant;

/// Samples one process tree. Processes and threads may come and go between samples.
#[derive(Debug, Default)]
pub struct Sampler {
    before: Option<(Instant, HashMap<ThreadId, ThreadTimes>)>,
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
        let times: HashMap<ThreadId, ThreadTimes> =
            pids.iter().flat_map(|&pid| threads::read(pid)).collect();
        if times.is_empty() {
            self.before = None;
            return None;
        }
        let threads = times.len() as u64;
        let (then, before) = self.before.replace((now, times))?;
        let length_s = now.duration_since(then).as_secs_f64();
        let (_, times) = self.before.as_ref()?;
        let mut sample = difference(&before, times, length_s)?;
        sample.threads = threads;
        sample.rss_bytes = pids.iter().filter_map(|&pid| memory::resident(pid)).sum();
        sample.fds = pids.iter().filter_map(|&pid| descriptors::count(pid)).sum();
        Some(sample)
    }
}

/// CPU figures over `length_s` seconds. A thread that is new counts from its start; one that ended is left out.
#[expect(
    clippy::cast_precision_loss,
    reason = "nanoseconds of one interval fit a double"
)]
fn difference(
    before: &HashMap<ThreadId, ThreadTimes>,
    after: &HashMap<ThreadId, ThreadTimes>,
    length_s: f64,
) -> Option<ComponentSample> {
    if length_s <= 0.0 {
        return None;
    }
    let per_second = |nanos: u64| nanos as f64 * 1e-9 / length_s;
    let mut sample = ComponentSample {
        length_s,
        ..ComponentSample::default()
    };
    for (id, times) in after {
        let earlier = before.get(id).copied().unwrap_or_default();
        let cores = per_second(times.running_ns.saturating_sub(earlier.running_ns));
        sample.cpu_cores += cores;
        // Reading takes a moment: a busy thread may seem to have used slightly more than the time that passed.
        sample.busiest_thread_cores = sample.busiest_thread_cores.max(cores.min(1.0));
        sample.run_delay += per_second(times.waiting_ns.saturating_sub(earlier.waiting_ns));
    }
    Some(sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(of: &[(ThreadId, u64, u64)]) -> HashMap<ThreadId, ThreadTimes> {
        let entry = |&(id, running_ns, waiting_ns): &(ThreadId, u64, u64)| {
            (
                id,
                ThreadTimes {
                    running_ns,
                    waiting_ns,
                },
            )
        };
        of.iter().map(entry).collect()
    }

    #[test]
    fn threads_that_come_and_go() {
        let before = times(&[((1, 1), 5_000_000_000, 0), ((1, 2), 9_000_000_000, 0)]);
        let after = times(&[
            ((1, 1), 5_500_000_000, 200_000_000),
            ((1, 3), 1_500_000_000, 0),
        ]);
        let sample = difference(&before, &after, 2.0).unwrap();
        assert_eq!(
            (
                sample.cpu_cores,
                sample.busiest_thread_cores,
                sample.run_delay
            ),
            (1.0, 0.75, 0.1)
        );
    }

    #[test]
    fn no_time_no_sample() {
        assert_eq!(difference(&times(&[]), &times(&[]), 0.0), None);
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
