//! Samples of what could hold the generator back: processors, quotas, the hypervisor, the network, descriptors.

use super::segments;
use super::steal::MachineTimes;
use super::threads::{ThreadId, Threads};
use super::{descriptors, threads, throttling};
use plimsoll_load::fragment::CANARY_THREAD;
use plimsoll_report::record::{GeneratorHealth, Segments};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use tokio::time::Instant;

/// Totals at one moment; what could not be read is absent.
#[derive(Debug)]
struct Reading {
    at: Instant,
    threads: Threads,
    machine: Option<MachineTimes>,
    segments: Option<segments::Segments>,
    /// By group.
    throttled: Vec<Option<f64>>,
    descriptors_share: Option<f64>,
}

/// Subject of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleSubject {
    /// The measured time: it counts.
    Measured,
    /// Warm-up or drain: it is only what the next one is compared with.
    Outside,
}

/// Samples the generator about once a second, and adds up what lies in the measured time.
#[derive(Debug)]
pub struct HealthProbe {
    pid: u32,
    groups: Vec<PathBuf>,
    before: Reading,
    seconds: f64,
    waited_ns: HashMap<ThreadId, u64>,
    busiest_cores: Option<f64>,
    throttled: Vec<Option<f64>>,
    /// Ticks stolen, and all.
    stolen: (u64, u64),
    stolen_share_max: Option<f64>,
    /// Segments sent again, and all.
    segments: (u64, u64),
    descriptors_share: Option<f64>,
}

impl HealthProbe {
    /// Begins with the generator's process `pid`, which is in the CPU control group `group` if that is known.
    #[must_use]
    pub fn new(pid: u32, group: Option<&Path>, now: Instant) -> Self {
        let groups = group.map(throttling::groups).unwrap_or_default();
        let before = Reading::take(pid, &groups, now);
        Self {
            pid,
            throttled: vec![None; groups.len()],
            groups,
            before,
            seconds: 0.0,
            waited_ns: HashMap::new(),
            busiest_cores: None,
            stolen: (0, 0),
            stolen_share_max: None,
            segments: (0, 0),
            descriptors_share: None,
        }
    }

    /// Takes a sample of the time since the last one.
    pub fn sample(&mut self, part: SampleSubject, now: Instant) {
        let reading = Reading::take(self.pid, &self.groups, now);
        let mut before = std::mem::replace(&mut self.before, reading);
        let length = now.duration_since(before.at).as_secs_f64();
        let after = &mut self.before.threads;
        threads::complete(&mut before.threads, after, length, |_| true);
        if part == SampleSubject::Outside || length <= 0.0 {
            return;
        }
        self.seconds += length;
        self.add_threads(&before.threads, length);
        if let (Some(after), Some(before)) = (self.before.machine, before.machine) {
            let (stolen, all) = after.since(before);
            self.stolen.0 += stolen;
            self.stolen.1 += all;
            raise(&mut self.stolen_share_max, share((stolen, all)));
        }
        if let (Some(after), Some(before)) = (self.before.segments, before.segments) {
            let (again, all) = after.since(before);
            self.segments.0 += again;
            self.segments.1 += all;
        }
        let groups = self.before.throttled.iter().zip(&before.throttled);
        for (sum, (after, before)) in self.throttled.iter_mut().zip(groups) {
            if let (Some(after), Some(before)) = (after, before) {
                *sum.get_or_insert_default() += (after - before).max(0.0);
            }
        }
        raise(&mut self.descriptors_share, self.before.descriptors_share);
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "nanoseconds of one interval fit a double"
    )]
    fn add_threads(&mut self, before: &Threads, length: f64) {
        for (id, times) in &self.before.threads {
            let used = times.since(before.get(id));
            // Reading takes a moment: a busy thread may seem to have used slightly more than the time that passed.
            let cores = (used.running_ns as f64 * 1e-9 / length).min(1.0);
            raise(&mut self.busiest_cores, Some(cores));
            *self.waited_ns.entry(*id).or_default() += used.waiting_ns;
        }
    }

    /// Says what was found; nothing, if no sample was of the measured time.
    #[expect(
        clippy::cast_precision_loss,
        reason = "nanoseconds of a run fit a double to within a microsecond"
    )]
    pub fn fill(&self, health: &mut GeneratorHealth) {
        let waited = self.waited_ns.values().max();
        health.run_delay_share = waited.map(|waited| *waited as f64 * 1e-9 / self.seconds);
        health.busiest_thread_cores_max = self.busiest_cores;
        // Quotas of several levels hold back at the same time; the tightest speaks.
        health.throttled_s = self.throttled.iter().flatten().copied().reduce(f64::max);
        health.steal_share_mean = share(self.stolen);
        health.steal_share_max = self.stolen_share_max;
        let (again, sent) = self.segments;
        health.segments = (sent > 0).then_some(Segments { sent, again });
        health.descriptors_share = self.descriptors_share;
    }
}

impl Reading {
    fn take(pid: u32, groups: &[PathBuf], at: Instant) -> Self {
        Self {
            at,
            threads: working_threads(pid),
            machine: MachineTimes::read(),
            segments: segments::Segments::read(pid),
            throttled: groups
                .iter()
                .map(|file| throttling::seconds(file))
                .collect(),
            descriptors_share: descriptors::share(pid),
        }
    }
}

/// The generator's threads that carry the load. Not the canary: it sleeps mostly and waits for a processor each time it wakes, which can
/// make at most one arrival in two hundred late, and criterion 2 sees these.
fn working_threads(pid: u32) -> Threads {
    let canary = CANARY_THREAD.to_str().unwrap_or_default();
    threads::read_except(pid, canary).into_iter().collect()
}

fn raise(highest: &mut Option<f64>, value: Option<f64>) {
    *highest = match (*highest, value) {
        (Some(highest), Some(value)) => Some(highest.max(value)),
        (highest, value) => highest.or(value),
    };
}

#[expect(clippy::cast_precision_loss, reason = "a share")]
fn share((part, whole): (u64, u64)) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn only_the_measured_time_counts() {
        let check = |part, expected: bool| {
            let start = Instant::now();
            let mut probe = HealthProbe::new(std::process::id(), None, start);
            probe.sample(part, start + Duration::from_secs(1));
            let mut health = GeneratorHealth::default();
            probe.fill(&mut health);
            let known = [
                health.run_delay_share,
                health.busiest_thread_cores_max,
                health.descriptors_share,
            ];
            assert_eq!(
                known.map(|value| value.is_some()),
                [expected; 3],
                "{health:?}"
            );
            assert!(
                known
                    .iter()
                    .flatten()
                    .all(|share| (0.0..=1.0).contains(share))
            );
        };
        check(SampleSubject::Measured, true);
        check(SampleSubject::Outside, false);
    }
}
