//! Resources of one process tree: samples at about 1 Hz, and what remains of them.

pub(super) mod demand;
pub(super) mod server;
pub(super) mod strain;

use super::figures::highest;
use crate::record::component::demand::Demand;
use crate::record::component::server::ServerStatistics;
use crate::record::component::strain::Strain;

/// The name under which the generator's own resources are recorded.
pub const GENERATOR: &str = "generator";

/// One probe sample: means over the interval since the sample before, levels at its end. What is `None` was not looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ComponentSample {
    /// Length of the interval in seconds.
    pub length_s: f64,
    /// CPU seconds used per second.
    pub cpu_cores: Option<f64>,
    /// CPU seconds per second of the thread that used most; at most 1.
    pub busiest_thread_cores: Option<f64>,
    /// Seconds per second that runnable threads waited for a CPU, summed over threads.
    pub run_delay: f64,
    /// Resident memory in bytes.
    pub rss_bytes: Option<u64>,
    /// Open descriptors.
    pub fds: Option<u64>,
    /// Threads.
    pub threads: Option<u64>,
    /// Resources beside these that may hold others up.
    pub strain: Strain,
    /// Its own statistics, if it is a server that has any.
    pub server: ServerStatistics,
}

/// Totals and maxima over samples. Merging gives what observing all samples in one would have.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ComponentData {
    /// Observed seconds.
    pub seconds: f64,
    /// CPU seconds used in them.
    pub cpu_seconds: f64,
    /// CPU seconds of the busiest thread, summed over samples.
    pub busiest_thread_seconds: f64,
    /// Seconds that threads waited for a CPU.
    pub run_delay_seconds: f64,
    /// Most CPU seconds per second in one sample.
    pub cpu_cores_max: Option<f64>,
    /// Most CPU of one thread in one sample.
    pub busiest_thread_cores_max: Option<f64>,
    /// Most resident memory.
    pub rss_bytes_max: Option<u64>,
    /// Most open descriptors.
    pub fds_max: Option<u64>,
    /// Most threads.
    pub threads_max: Option<u64>,
    /// Resources beside these that may have held others up.
    pub strain: Strain,
    /// Its own statistics.
    pub server: ServerStatistics,
    /// Processor time by throughput.
    pub demand: Demand,
}

impl ComponentData {
    /// Takes one sample into account.
    pub fn observe(&mut self, sample: &ComponentSample) {
        self.merge(&Self {
            seconds: sample.length_s,
            cpu_seconds: sample.cpu_cores.unwrap_or(0.0) * sample.length_s,
            busiest_thread_seconds: sample.busiest_thread_cores.unwrap_or(0.0) * sample.length_s,
            run_delay_seconds: sample.run_delay * sample.length_s,
            cpu_cores_max: sample.cpu_cores,
            busiest_thread_cores_max: sample.busiest_thread_cores,
            rss_bytes_max: sample.rss_bytes,
            fds_max: sample.fds,
            threads_max: sample.threads,
            strain: sample.strain,
            server: sample.server,
            demand: Demand::default(),
        });
    }

    /// Adds the samples of another block.
    pub fn merge(&mut self, other: &Self) {
        let seconds = (self.seconds, other.seconds);
        self.strain.merge(&other.strain, seconds);
        self.server.merge(&other.server, seconds);
        self.demand.merge(&other.demand);
        self.seconds += other.seconds;
        self.cpu_seconds += other.cpu_seconds;
        self.busiest_thread_seconds += other.busiest_thread_seconds;
        self.run_delay_seconds += other.run_delay_seconds;
        highest(&mut self.cpu_cores_max, other.cpu_cores_max, seconds);
        highest(
            &mut self.busiest_thread_cores_max,
            other.busiest_thread_cores_max,
            seconds,
        );
        highest(&mut self.rss_bytes_max, other.rss_bytes_max, seconds);
        highest(&mut self.fds_max, other.fds_max, seconds);
        highest(&mut self.threads_max, other.threads_max, seconds);
    }

    /// Mean CPU in cores; `None` where no sample looked at it.
    #[must_use]
    pub fn cpu_cores_mean(&self) -> Option<f64> {
        let looked = self.cpu_cores_max.is_some() && self.seconds > 0.0;
        looked.then(|| self.cpu_seconds / self.seconds)
    }

    /// Mean CPU of the busiest thread in cores; `None` where no sample looked at threads.
    #[must_use]
    pub fn busiest_thread_cores_mean(&self) -> Option<f64> {
        let looked = self.busiest_thread_cores_max.is_some() && self.seconds > 0.0;
        looked.then(|| self.busiest_thread_seconds / self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_sample_looked_at_is_not_zero() {
        let mut data = ComponentData::default();
        let exported = ComponentSample {
            length_s: 2.0,
            cpu_cores: Some(0.5),
            fds: Some(7),
            ..ComponentSample::default()
        };
        data.observe(&exported);
        assert_eq!(data.cpu_cores_mean(), Some(0.5));
        assert_eq!(data.busiest_thread_cores_mean(), None);
        assert_eq!((data.rss_bytes_max, data.fds_max), (None, Some(7)));
        let seen = ComponentSample {
            busiest_thread_cores: Some(0.4),
            threads: Some(3),
            fds: Some(5),
            ..exported
        };
        data.observe(&seen);
        assert_eq!((data.threads_max, data.fds_max), (Some(3), Some(7)));
        assert_eq!(data.busiest_thread_cores_max, Some(0.4));
    }

    #[test]
    fn processor_time_that_no_sample_looked_at_is_not_zero() {
        let mut data = ComponentData::default();
        data.observe(&ComponentSample {
            length_s: 1.0,
            ..ComponentSample::default()
        });
        assert_eq!((data.cpu_cores_mean(), data.cpu_cores_max), (None, None));
    }
}
