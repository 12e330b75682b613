//! What of a component, beside its processor time, may hold others up, and what of the machine may hold up everybody.
//!
//! One field per probe. What is `None` was not looked at, or this host does not say. A field is a level, a share or a count, and merges
//! as such.

use schemars::JsonSchema;
use serde::ser::{Error as _, Serializer};
use serde::{Deserialize, Serialize};

/// Of one sample of a component, or of several merged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Strain {
    /// Processors that it may use: those that it may run on, or its CPU quota where that is less.
    pub cpu_limit_cores: Option<f64>,
    /// The tightest CPU quota of its control group and of those above it, in cores.
    pub cpu_quota_cores: Option<f64>,
    /// Of the processors that it may run on, the share of time in which they worked, for whomever; over all samples their mean.
    pub cpus_busy_share: Option<f64>,
    /// CPU of its process that used most, in cores; over all samples their mean.
    pub busiest_process_cores: Option<f64>,
    /// The share of time in which its busiest thread ran or was ready and waited for a processor; over all samples its mean.
    pub busiest_thread_ready: Option<f64>,
    /// The share of its quota's periods in which it was throttled; over all samples their mean.
    pub throttled_share: Option<f64>,
    /// Page faults for which a disk was read.
    pub major_faults: Option<u64>,
    /// The share of its control group's memory limit that was used; over all samples the largest.
    pub memory_share: Option<f64>,
    /// The share of time in which something in its own control group waited for a processor; over all samples their mean.
    pub cpu_pressure: Option<f64>,
    /// The same for memory.
    pub memory_pressure: Option<f64>,
    /// The same for a disk.
    pub io_pressure: Option<f64>,
    /// The share of its descriptor limit that a process of it used; over all samples the largest.
    pub fds_share: Option<f64>,
    /// Connections that waited at its listeners to be accepted; over all samples the most.
    pub accept_queue: Option<u64>,
    /// Connections that found an accept queue full, in its network namespace.
    pub listen_overflows: Option<u64>,
    /// TCP segments sent in its network namespace.
    pub segments_sent: Option<u64>,
    /// Of these, sent again.
    pub segments_again: Option<u64>,
    /// The share of its network namespace's local ports that were taken, by open and by lately closed connections; over all samples the largest.
    pub ports_share: Option<f64>,
    /// The share of the connection tracker's table that was full; over all samples the largest.
    pub conntrack_share: Option<f64>,
    /// Packets that the connection tracker dropped.
    pub conntrack_drops: Option<u64>,
}

/// Of one sample of the machine, or of several merged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HostStrain {
    /// The share of all processors' time in which they worked; over all samples their mean.
    pub cpus_busy_share: Option<f64>,
    /// The share of all processors' time that the hypervisor gave to others; over all samples their mean.
    pub steal_share: Option<f64>,
    /// The share of time in which something waited for a processor; over all samples their mean.
    pub cpu_pressure: Option<f64>,
    /// The same for memory.
    pub memory_pressure: Option<f64>,
    /// The same for a disk.
    pub io_pressure: Option<f64>,
    /// Packets that were dropped because a processor's queue was full.
    pub softnet_dropped: Option<u64>,
    /// How often a processor had more packets than one round allows.
    pub softnet_squeezed: Option<u64>,
    /// Processor time that all probes together took, in cores; over all samples their mean.
    pub probes_cores: Option<f64>,
}

/// The machine over several samples.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HostData {
    /// Observed seconds.
    pub seconds: f64,
    /// What was seen in them.
    pub strain: HostStrain,
}

impl HostData {
    /// Takes a sample of so many seconds into account.
    pub fn observe(&mut self, strain: HostStrain, seconds: f64) {
        self.merge(&Self { seconds, strain });
    }

    /// Adds the samples of another block.
    pub fn merge(&mut self, other: &Self) {
        self.strain
            .merge(&other.strain, (self.seconds, other.seconds));
        self.seconds += other.seconds;
    }
}

/// Seconds of two parts that are merged, own first.
pub(super) type Weights = (f64, f64);

impl Strain {
    /// Adds another part's. Counts add up, levels keep the highest, means are weighted by `seconds`.
    pub fn merge(&mut self, other: &Self, seconds: Weights) {
        highest(&mut self.cpu_limit_cores, other.cpu_limit_cores);
        highest(&mut self.cpu_quota_cores, other.cpu_quota_cores);
        highest(&mut self.memory_share, other.memory_share);
        highest(&mut self.fds_share, other.fds_share);
        highest(&mut self.accept_queue, other.accept_queue);
        highest(&mut self.ports_share, other.ports_share);
        highest(&mut self.conntrack_share, other.conntrack_share);
        sum(&mut self.major_faults, other.major_faults);
        sum(&mut self.listen_overflows, other.listen_overflows);
        sum(&mut self.segments_sent, other.segments_sent);
        sum(&mut self.segments_again, other.segments_again);
        sum(&mut self.conntrack_drops, other.conntrack_drops);
        for (own, added) in [
            (&mut self.cpus_busy_share, other.cpus_busy_share),
            (&mut self.busiest_process_cores, other.busiest_process_cores),
            (&mut self.busiest_thread_ready, other.busiest_thread_ready),
            (&mut self.throttled_share, other.throttled_share),
            (&mut self.cpu_pressure, other.cpu_pressure),
            (&mut self.memory_pressure, other.memory_pressure),
            (&mut self.io_pressure, other.io_pressure),
        ] {
            mean(own, added, seconds);
        }
    }
}

impl HostStrain {
    /// Adds another part's, as [`Strain::merge`] does.
    pub fn merge(&mut self, other: &Self, seconds: Weights) {
        sum(&mut self.softnet_dropped, other.softnet_dropped);
        sum(&mut self.softnet_squeezed, other.softnet_squeezed);
        for (own, added) in [
            (&mut self.cpus_busy_share, other.cpus_busy_share),
            (&mut self.steal_share, other.steal_share),
            (&mut self.cpu_pressure, other.cpu_pressure),
            (&mut self.memory_pressure, other.memory_pressure),
            (&mut self.io_pressure, other.io_pressure),
            (&mut self.probes_cores, other.probes_cores),
        ] {
            mean(own, added, seconds);
        }
    }
}

/// What is known only: rows of the series are many.
pub(super) fn without_nulls<T: Serialize, S: Serializer>(
    strain: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut value = serde_json::to_value(strain).map_err(S::Error::custom)?;
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|_, field| !field.is_null());
    }
    value.serialize(serializer)
}

pub(super) fn highest<T: PartialOrd + Copy>(own: &mut Option<T>, added: Option<T>) {
    if let Some(added) = added
        && own.is_none_or(|own| added > own)
    {
        *own = Some(added);
    }
}

pub(super) fn sum(own: &mut Option<u64>, added: Option<u64>) {
    if let Some(added) = added {
        *own = Some(own.unwrap_or(0).saturating_add(added));
    }
}

pub(super) fn mean(own: &mut Option<f64>, added: Option<f64>, (first, second): Weights) {
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
    fn parts_merge_by_what_each_field_is() {
        let mut own = Strain {
            throttled_share: Some(0.0),
            accept_queue: Some(5),
            listen_overflows: Some(2),
            ..Strain::default()
        };
        let other = Strain {
            throttled_share: Some(0.4),
            accept_queue: Some(3),
            listen_overflows: Some(1),
            fds_share: Some(0.5),
            ..Strain::default()
        };
        own.merge(&other, (3.0, 1.0));
        assert_eq!(
            own,
            Strain {
                throttled_share: Some(0.1),
                accept_queue: Some(5),
                listen_overflows: Some(3),
                fds_share: Some(0.5),
                ..Strain::default()
            }
        );
    }

    #[test]
    fn rows_hold_what_is_known() {
        #[derive(Serialize)]
        struct Row {
            #[serde(serialize_with = "without_nulls")]
            strain: Strain,
        }
        let strain = Strain {
            major_faults: Some(0),
            ..Strain::default()
        };
        let text = serde_json::to_string(&Row { strain }).unwrap();
        assert_eq!(text, r#"{"strain":{"major_faults":0}}"#);
    }
}
