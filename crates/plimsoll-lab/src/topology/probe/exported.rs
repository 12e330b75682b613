//! An endpoint's or a server's words on a component, whatever their names: counters since some beginning, and levels.

use plimsoll_report::record::{ComponentSample, ServerStatistics, Strain};
use tokio::time::Instant;

/// A reading, and its time.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    pub(super) at: Instant,
    pub(super) exported: Exported,
}

/// One reading; what is not exported is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Exported {
    /// When the exporter looked, in seconds of its own clock, where it says so: some look less often than they are read.
    pub(super) looked_s: Option<f64>,
    // Counters.
    /// Processor seconds.
    pub(super) cpu_s: Option<f64>,
    /// Of the thread that does all the work of a server, where there is one.
    pub(super) main_thread_s: Option<f64>,
    /// Seconds in rounds of an event loop, and their number.
    pub(super) in_loop_s: Option<f64>,
    pub(super) loops: Option<f64>,
    /// Seconds in which threads were ready and waited.
    pub(super) run_delay_s: Option<f64>,
    pub(super) periods: Option<f64>,
    pub(super) throttled_periods: Option<f64>,
    pub(super) major_faults: Option<f64>,
    pub(super) listen_overflows: Option<f64>,
    pub(super) segments_sent: Option<f64>,
    pub(super) segments_again: Option<f64>,
    /// Seconds of pressure.
    pub(super) cpu_waited_s: Option<f64>,
    pub(super) memory_waited_s: Option<f64>,
    pub(super) io_waited_s: Option<f64>,
    // Levels.
    pub(super) limit_cores: Option<f64>,
    pub(super) quota_cores: Option<f64>,
    pub(super) rss_bytes: Option<f64>,
    pub(super) memory_share: Option<f64>,
    pub(super) fds: Option<f64>,
    pub(super) fds_share: Option<f64>,
    pub(super) threads: Option<f64>,
    pub(super) conntrack_share: Option<f64>,
    /// The server's own statistics: counts since some beginning, and levels.
    pub(super) server: ServerStatistics,
    /// Statistics that it does not show, in words.
    pub(super) hidden: Option<&'static str>,
}

impl Exported {
    /// Whether the exporter says the same as before because it has not looked again.
    pub(super) fn is_same_look(&self, before: &Self) -> bool {
        self.looked_s.is_some() && self.looked_s == before.looked_s
    }

    /// The sample between two readings, which are `read_s` apart, or as long as the exporter says that its looks are; `None` where no time
    /// passed, or a counter began anew: the component, or its exporter, started again.
    pub(super) fn since(&self, before: &Self, read_s: f64) -> Option<ComponentSample> {
        let looks = self.looked_s.zip(before.looked_s);
        let length_s = looks.map_or(read_s, |(now, then)| now - then);
        let restarted = self
            .cpu_s
            .zip(before.cpu_s)
            .is_some_and(|(now, then)| now < then)
            || self.server.operations < before.server.operations;
        if length_s <= 0.0 || restarted {
            return None;
        }
        let grown = |after: Option<f64>, before: Option<f64>| {
            Some(after? - before?).filter(|grown| *grown >= 0.0)
        };
        let share = |after, before| grown(after, before).map(|waited| (waited / length_s).min(1.0));
        let counted = |after, before| grown(after, before).map(whole);
        let cores = |after, before| grown(after, before).map(|used| used / length_s);
        let rounds = grown(self.loops, before.loops).filter(|rounds| *rounds > 0.0);
        let in_loop = grown(self.in_loop_s, before.in_loop_s);
        let periods = grown(self.periods, before.periods);
        let throttled = grown(self.throttled_periods, before.throttled_periods);
        Some(ComponentSample {
            length_s,
            cpu_cores: cores(self.cpu_s, before.cpu_s),
            busiest_thread_cores: None,
            run_delay: grown(self.run_delay_s, before.run_delay_s).unwrap_or(0.0) / length_s,
            rss_bytes: self.rss_bytes.map(whole),
            fds: self.fds.map(whole),
            threads: self.threads.map(whole),
            strain: Strain {
                cpu_limit_cores: self.limit_cores,
                cpu_quota_cores: self.quota_cores,
                cpus_busy_share: None,
                throttled_share: throttled
                    .zip(periods)
                    .map(|(throttled, periods)| throttled / periods.max(1.0)),
                major_faults: counted(self.major_faults, before.major_faults),
                memory_share: self.memory_share,
                cpu_pressure: share(self.cpu_waited_s, before.cpu_waited_s),
                memory_pressure: share(self.memory_waited_s, before.memory_waited_s),
                io_pressure: share(self.io_waited_s, before.io_waited_s),
                fds_share: self.fds_share,
                listen_overflows: counted(self.listen_overflows, before.listen_overflows),
                segments_sent: counted(self.segments_sent, before.segments_sent),
                segments_again: counted(self.segments_again, before.segments_again),
                conntrack_share: self.conntrack_share,
                ..Strain::default()
            },
            server: ServerStatistics {
                main_thread_cores: cores(self.main_thread_s, before.main_thread_s),
                loop_s: in_loop
                    .zip(rounds)
                    .map(|(seconds, rounds)| seconds / rounds),
                ..counted_since(&self.server, &before.server)
            },
        })
    }
}

/// Levels as they are, and what was counted between two readings.
fn counted_since(now: &ServerStatistics, then: &ServerStatistics) -> ServerStatistics {
    let of = |after: Option<u64>, before: Option<u64>| after?.checked_sub(before?);
    ServerStatistics {
        connections_rejected: of(now.connections_rejected, then.connections_rejected),
        operations: of(now.operations, then.operations),
        rollbacks: of(now.rollbacks, then.rollbacks),
        deadlocks: of(now.deadlocks, then.deadlocks),
        hits: of(now.hits, then.hits),
        misses: of(now.misses, then.misses),
        temporary_bytes: of(now.temporary_bytes, then.temporary_bytes),
        checkpoints_timed: of(now.checkpoints_timed, then.checkpoints_timed),
        checkpoints_requested: of(now.checkpoints_requested, then.checkpoints_requested),
        evicted_keys: of(now.evicted_keys, then.evicted_keys),
        ..*now
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts and sizes, which are not negative"
)]
fn whole(value: f64) -> u64 {
    value.max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_between_two_readings() {
        let before = Exported {
            cpu_s: Some(10.0),
            periods: Some(100.0),
            throttled_periods: Some(10.0),
            ..Exported::default()
        };
        let after = Exported {
            cpu_s: Some(11.0),
            periods: Some(120.0),
            throttled_periods: Some(15.0),
            rss_bytes: Some(4096.0),
            ..Exported::default()
        };
        let sample = after.since(&before, 2.0).unwrap();
        assert_eq!(
            (sample.cpu_cores, sample.rss_bytes),
            (Some(0.5), Some(4096))
        );
        // What is not exported is not zero.
        let seen = (sample.busiest_thread_cores, sample.fds, sample.threads);
        assert_eq!(seen, (None, None, None));
        assert_eq!(sample.strain.throttled_share, Some(0.25));
        assert_eq!(sample.strain.listen_overflows, None);
        assert_eq!(before.since(&after, 2.0), None, "it began anew");
    }

    /// Read every second, looked every ten.
    #[test]
    fn an_exporters_own_moments_are_what_lies_between() {
        let look = |looked_s, cpu_s| Exported {
            looked_s: Some(looked_s),
            cpu_s: Some(cpu_s),
            ..Exported::default()
        };
        let (first, second) = (look(100.0, 50.0), look(110.0, 55.0));
        let sample = second.since(&first, 1.0).unwrap();
        assert_eq!((sample.length_s, sample.cpu_cores), (10.0, Some(0.5)));
        assert!(first.is_same_look(&look(100.0, 50.0)) && !second.is_same_look(&first));
        assert!(!Exported::default().is_same_look(&Exported::default()));
    }

    #[test]
    fn a_server_counts_and_has_levels() {
        let at = |operations, connections| Exported {
            main_thread_s: Some(operations as f64 / 1_000.0),
            in_loop_s: Some(operations as f64 / 500.0),
            loops: Some(operations as f64),
            server: ServerStatistics {
                connections: Some(connections),
                operations: Some(operations),
                ..ServerStatistics::default()
            },
            ..Exported::default()
        };
        let (before, after) = (at(1_000, 4.0), at(2_000, 9.0));
        let sample = after.since(&before, 2.0).unwrap();
        let expected = ServerStatistics {
            connections: Some(9.0),
            operations: Some(1_000),
            main_thread_cores: Some(0.5),
            loop_s: Some(0.002),
            ..ServerStatistics::default()
        };
        assert_eq!((sample.cpu_cores, sample.server), (None, expected));
        assert_eq!(before.since(&after, 2.0), None, "it began anew");
    }
}
