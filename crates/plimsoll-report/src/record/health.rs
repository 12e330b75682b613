//! The generator's own health during one arm's measured time: the inputs of the criteria of validity.
//!
//! Whoever measures fills in what it can; what is `None` was not looked at, and no criterion is then shown for it. Arrivals that
//! were late, never started or not released in their second stand in [`super::ArmData`], where they are counted anyway.

use plimsoll_base::histogram::TimeHistogram;

/// The generator's health in the measured time (without warm-up) of one block, or of blocks merged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GeneratorHealth {
    /// The longest time in seconds for which the generator stalled: the latest awakening of its watchdog.
    pub longest_stall_s: Option<f64>,
    /// The share of time for which it stalled: the sum of all stalls over the measured time.
    pub stalled_share: Option<f64>,
    /// Seconds for which its threads were ready and waited for a processor, per second and thread at work: of the thread that waited most.
    pub run_delay_share: Option<f64>,
    /// Most processor use of one of its threads in one second, in cores. `None` where its pacing spins, which says nothing of work.
    pub busiest_thread_cores_max: Option<f64>,
    /// Seconds for which a CPU quota kept it from running.
    pub throttled_s: Option<f64>,
    /// The share of the machine's processor time that the hypervisor gave to others, on the mean.
    pub steal_share_mean: Option<f64>,
    /// The share of the machine's processor time that the hypervisor gave to others in the worst second.
    pub steal_share_max: Option<f64>,
    /// TCP segments of the generator's network namespace, other programs' in it included.
    pub segments: Option<Segments>,
    /// How often it had no port or no descriptor for a connection.
    pub exhausted: Option<u64>,
    /// The largest share of its descriptor limit that was in use.
    pub descriptors_share: Option<f64>,
    /// The Kolmogorov–Smirnov distance of released from planned arrivals: the largest difference of their two cumulative shares.
    pub schedule_ks: Option<f64>,
    /// |L − X·R| / L of Little's law, with L from an integral over time of the exchanges in flight (never from one reading a second),
    /// X their ends per second and R their mean time.
    pub littles_law_error: Option<f64>,
    /// Service times that the generator's canary, with few exchanges on a thread of its own, saw at the same target at the same time.
    pub canary: Option<TimeHistogram>,
    /// Exchanges as both ends timed them.
    pub both_ends: Option<BothEnds>,
    /// Response times by halves of the measured time. `None` where the planned load itself changes.
    pub halves: Option<Halves>,
    /// Medians of response times in seconds, by [`PARTS`] equal parts of the measured time, or as many as it has seconds. Empty where the planned load
    /// itself changes, where a part had none, and of blocks merged.
    pub medians: Vec<f64>,
}

/// Parts of a measured time whose medians are kept.
pub const PARTS: u32 = 10;

/// Exchanges as the generator timed them and as the component of ours that was its direct target did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BothEnds {
    /// Service times of the generator, of answered exchanges.
    pub client: TimeHistogram,
    /// The component's own times: from the request's head to its answer handed to the system.
    pub server: TimeHistogram,
}

/// TCP segments of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segments {
    /// Sent in all, those sent again included.
    pub sent: u64,
    /// Sent again.
    pub again: u64,
}

impl Segments {
    /// The share of all that was sent again; 0 when nothing was sent.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn again_share(self) -> f64 {
        self.again as f64 / self.sent.max(1) as f64
    }

    fn plus(self, other: Self) -> Self {
        Self {
            sent: self.sent + other.sent,
            again: self.again + other.again,
        }
    }
}

/// Response times of the measured time, by the half of it in which they ended.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Halves {
    /// The first half.
    pub first: TimeHistogram,
    /// The second half.
    pub second: TimeHistogram,
}

/// How two measured values become that of both times together.
type Join = fn(f64, f64) -> f64;

impl GeneratorHealth {
    /// Adds another block's. `seconds` are the measured times of both, own first: means are weighted by them, sums add up, and of
    /// extremes the worse one stays. What was looked at in one block only is that block's.
    pub fn merge(&mut self, other: &Self, seconds: (f64, f64)) {
        let mean = |own: &mut Option<f64>, added: Option<f64>| join_mean(own, added, seconds);
        mean(&mut self.stalled_share, other.stalled_share);
        mean(&mut self.run_delay_share, other.run_delay_share);
        mean(&mut self.steal_share_mean, other.steal_share_mean);
        let pairs: [(&mut Option<f64>, Option<f64>, Join); 7] = [
            (&mut self.longest_stall_s, other.longest_stall_s, f64::max),
            (
                &mut self.busiest_thread_cores_max,
                other.busiest_thread_cores_max,
                f64::max,
            ),
            (&mut self.throttled_s, other.throttled_s, |a, b| a + b),
            (&mut self.steal_share_max, other.steal_share_max, f64::max),
            (
                &mut self.descriptors_share,
                other.descriptors_share,
                f64::max,
            ),
            (&mut self.schedule_ks, other.schedule_ks, f64::max),
            (
                &mut self.littles_law_error,
                other.littles_law_error,
                f64::max,
            ),
        ];
        for (own, added, join) in pairs {
            *own = joined(*own, added, join);
        }
        self.exhausted = joined(self.exhausted, other.exhausted, |a, b| a + b);
        self.segments = joined(self.segments, other.segments, Segments::plus);
        if let Some(added) = &other.both_ends {
            let own = self.both_ends.get_or_insert_default();
            own.client.merge(&added.client);
            own.server.merge(&added.server);
        }
        if let Some(added) = &other.canary {
            self.canary.get_or_insert_default().merge(added);
        }
        self.medians.clear();
        if let Some(added) = &other.halves {
            let own = self.halves.get_or_insert_default();
            own.first.merge(&added.first);
            own.second.merge(&added.second);
        }
    }
}

fn joined<T>(own: Option<T>, added: Option<T>, join: fn(T, T) -> T) -> Option<T> {
    match (own, added) {
        (Some(own), Some(added)) => Some(join(own, added)),
        (own, added) => own.or(added),
    }
}

fn join_mean(own: &mut Option<f64>, added: Option<f64>, (first, second): (f64, f64)) {
    *own = match (*own, added) {
        (Some(a), Some(b)) if first + second > 0.0 => {
            Some((a * first + b * second) / (first + second))
        }
        (a, b) => a.or(b),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_merge_by_what_each_value_is() {
        let ends = |millis: &[u64]| {
            let mut ends = BothEnds::default();
            for millis in millis {
                ends.client.record_nanos(millis * 1_000_000);
                ends.server.record_nanos(millis * 900_000);
            }
            ends
        };
        let mut own = GeneratorHealth {
            longest_stall_s: Some(0.1),
            stalled_share: Some(0.01),
            throttled_s: Some(1.0),
            exhausted: Some(2),
            both_ends: Some(ends(&[3])),
            ..GeneratorHealth::default()
        };
        let other = GeneratorHealth {
            longest_stall_s: Some(0.2),
            stalled_share: Some(0.05),
            throttled_s: Some(0.5),
            exhausted: None,
            schedule_ks: Some(0.001),
            both_ends: Some(ends(&[2])),
            halves: Some(Halves::default()),
            ..GeneratorHealth::default()
        };
        own.merge(&other, (30.0, 10.0));
        assert_eq!(
            own,
            GeneratorHealth {
                longest_stall_s: Some(0.2),
                stalled_share: Some(0.02),
                throttled_s: Some(1.5),
                exhausted: Some(2),
                schedule_ks: Some(0.001),
                both_ends: Some(ends(&[2, 3])),
                halves: Some(Halves::default()),
                ..GeneratorHealth::default()
            }
        );
    }
}
