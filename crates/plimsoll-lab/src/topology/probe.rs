//! Probes: what the processes of a component consume and what holds them up, and the machine below them, sampled about once a second from
//! `/proc` and the control groups of version 1, 2 or both; and of components elsewhere what they say themselves.
//!
//! One file per source. A sampler keeps only what the next difference needs. What the figures mean for a verdict is left to
//! `plimsoll-report`.

mod conntrack;
mod container;
mod cost;
mod descriptors;
mod endpoint;
mod exported;
mod health;
mod host;
mod listen_queue;
mod memory;
mod memory_limit;
mod moment;
mod namespace;
mod ports;
mod postgresql;
mod pressure;
mod process;
mod processors;
mod prometheus;
mod quota;
mod redis;
mod segments;
mod sock_diag;
mod softnet;
mod steal;
mod strain;
mod threads;
mod throttling;

pub use container::Container;
pub use cost::Cost;
pub use endpoint::{Endpoint, Source};
pub use health::{HealthProbe, SampleSubject};
pub use host::HostProbe;
pub use moment::Moment;
pub use postgresql::Postgresql;
pub(crate) use quota::Quota;
pub use redis::Redis;
pub(crate) use steal::MachineTimes;

use plimsoll_report::record::ComponentSample;
use process::ProcessTotals;
use std::collections::{HashMap, HashSet};
use strain::{ProcessPlaces, Strains};
use threads::Threads;
use tokio::time::Instant;

/// Samples the processes of one component. They and their threads may come and go between samples.
#[derive(Debug, Default)]
pub struct Sampler {
    before: Option<(Instant, Totals)>,
    place: Option<ProcessPlaces>,
}

/// Resources that processes have used since they started.
#[derive(Debug, Default)]
struct Totals {
    threads: Threads,
    /// Threads that ended included, but CPU time only in whole ticks.
    processes: HashMap<u32, ProcessTotals>,
    strains: Strains,
}

impl Totals {
    fn read(pids: &[u32], place: &ProcessPlaces, moment: &Moment) -> Self {
        let processes = pids.iter();
        Self {
            threads: pids.iter().flat_map(|&pid| threads::read(pid)).collect(),
            processes: processes
                .filter_map(|&pid| Some((pid, process::read(pid)?)))
                .collect(),
            strains: Strains::read(place, moment),
        }
    }

    /// Adds what these or those `before`, `length_s` seconds ago, left out although it was there.
    fn complete(&mut self, before: &mut Self, length_s: f64) {
        threads::complete(&mut before.threads, &mut self.threads, length_s, |pid| {
            self.processes.contains_key(&pid)
        });
        for (pid, totals) in &self.processes {
            if totals.is_older_than(length_s) {
                before.processes.entry(*pid).or_insert(*totals);
            }
        }
    }
}

impl Sampler {
    /// The consumption of the processes `pids`, of which some listen on `ports`, since the sample before; `None` for the first one
    /// and when nothing runs.
    pub fn sample(
        &mut self,
        moment: &Moment,
        pids: &[u32],
        ports: &[u16],
    ) -> Option<ComponentSample> {
        let Some(first) = pids.first() else {
            *self = Self::default();
            return None;
        };
        let place = self.place.take().filter(|place| place.is_of(*first));
        let place = self
            .place
            .insert(place.unwrap_or_else(|| ProcessPlaces::of(pids)));
        let mut totals = Totals::read(pids, place, moment);
        let mut before = self.before.take();
        let since = |then: Instant| moment.now.duration_since(then).as_secs_f64();
        if let Some((then, before)) = &mut before {
            totals.complete(before, since(*then));
        }
        if totals.threads.is_empty() {
            *self = Self::default();
            return None;
        }
        let threads = totals.threads.len() as u64;
        let (_, totals) = self.before.insert((moment.now, totals));
        let (then, before) = before?;
        let length_s = since(then);
        let mut sample = difference(&before, totals, length_s)?;
        sample.threads = Some(threads);
        sample.rss_bytes = known(pids, memory::resident);
        sample.fds = known(pids, descriptors::count);
        let strain = totals.strains.since(&before.strains, length_s, ports);
        let namespace = totals.strains.namespace();
        sample.strain = place.fill(strain, namespace, pids, ports, sample.strain);
        Some(sample)
    }

    /// Resources of the component that are not permitted to be seen, in words; `None` where there are none.
    #[must_use]
    pub fn denied(&self) -> Option<&'static str> {
        self.place.as_ref()?.denied()
    }
}

/// The sum over the processes that say it; `None` where none does.
fn known(pids: &[u32], of: impl Fn(u32) -> Option<u64>) -> Option<u64> {
    pids.iter().filter_map(|&pid| of(pid)).reduce(|a, b| a + b)
}

/// CPU figures over `length_s` seconds. What a thread used that ended in the interval is known only for its process and only in ticks, so
/// such a process counts with the larger of both figures.
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
        let used = times.since(before.threads.get(id));
        let running_ns = used.running_ns;
        *by_process.entry(id.0).or_default() += running_ns;
        // Reading takes a moment: a busy thread may seem to have used slightly more than the time that passed.
        let cores = per_second(running_ns).min(1.0);
        let busiest = &mut sample.busiest_thread_cores;
        *busiest = Some(busiest.map_or(cores, |busiest| busiest.max(cores)));
        let waiting = per_second(used.waiting_ns);
        sample.run_delay += waiting;
        let ready = (cores + waiting).min(1.0);
        let readiest = &mut sample.strain.busiest_thread_ready;
        *readiest = Some(readiest.map_or(ready, |readiest| readiest.max(ready)));
    }
    let ended = before
        .threads
        .keys()
        .filter(|id| !after.threads.contains_key(id));
    for pid in ended.map(|id| id.0).collect::<HashSet<_>>() {
        if let (Some(then), Some(now)) = (before.processes.get(&pid), after.processes.get(&pid)) {
            let whole = by_process.entry(pid).or_default();
            *whole = (*whole).max(now.running_ns.saturating_sub(then.running_ns));
        }
    }
    sample.cpu_cores = Some(by_process.values().copied().map(per_second).sum());
    let busiest = by_process.values().max().copied();
    sample.strain.busiest_process_cores = busiest.map(per_second);
    sample.strain.major_faults = Some(faults(before, after));
    Some(sample)
}

/// Major page faults of processes that are there; of a new one all.
fn faults(before: &Totals, after: &Totals) -> u64 {
    let since = |(pid, now): (&u32, &ProcessTotals)| {
        let then = before.processes.get(pid).copied().unwrap_or_default();
        now.major_faults.saturating_sub(then.major_faults)
    };
    after.processes.iter().map(since).sum()
}

#[cfg(test)]
mod tests {
    use super::threads::{ThreadId, ThreadTimes};
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
        let process = |&(pid, ms): &(u32, u64)| {
            let totals = ProcessTotals {
                running_ns: ms * MS,
                major_faults: 2 * ms,
                started_ns: 0,
            };
            (pid, totals)
        };
        Totals {
            threads: threads.iter().map(thread).collect(),
            processes: processes.iter().map(process).collect(),
            strains: Strains::default(),
        }
    }

    fn check(before: &Totals, after: &Totals, expected: (f64, f64, f64)) {
        let sample = difference(before, after, 2.0).unwrap();
        let actual = (
            sample.cpu_cores.unwrap(),
            sample.busiest_thread_cores.unwrap(),
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

    /// Neither its processor time nor its faults of all its life are those of the interval.
    #[test]
    fn an_old_process_that_the_look_before_left_out_counts_nothing() {
        let own = std::process::id();
        let mut before = totals(&[((1, 1), 5000, 0)], &[(1, 5000)]);
        let mut after = totals(
            &[((1, 1), 6000, 0), ((own, own), 90_000, 9000)],
            &[(1, 6000), (own, 90_000)],
        );
        after.complete(&mut before, -1.0);
        check(&before, &after, (0.5, 0.5, 0.0));
        assert_eq!(faults(&before, &after), 2000);
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
    fn faults_are_those_of_the_interval() {
        let before = totals(&[], &[(1, 100), (2, 50)]);
        let after = totals(&[], &[(1, 160), (3, 4)]);
        assert_eq!(faults(&before, &after), 128);
    }

    #[test]
    fn this_tests_own_process_is_seen() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let ports = [listener.local_addr().unwrap().port()];
        let pids = [std::process::id()];
        let mut sampler = Sampler::default();
        let mut moment = Moment::read(Instant::now());
        assert_eq!(sampler.sample(&moment, &pids, &ports), None);
        moment.now += std::time::Duration::from_secs(1);
        let sample = sampler.sample(&moment, &pids, &ports).unwrap();
        assert!(
            sample.threads >= Some(1) && sample.rss_bytes > Some(0) && sample.fds > Some(0),
            "{sample:?}"
        );
        let strain = sample.strain;
        assert_eq!(strain.accept_queue, Some(0), "{strain:?}");
        assert!(strain.listen_overflows.is_some(), "{strain:?}");
        assert!(strain.cpu_limit_cores.is_some_and(|cores| cores > 0.0));
        assert!(strain.fds_share.is_none_or(|share| share > 0.0));
        assert_eq!(sampler.denied(), None);
        assert_eq!(sampler.sample(&moment, &[], &ports), None);
    }
}
