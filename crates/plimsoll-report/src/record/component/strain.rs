//! Resources of a component, beside its processor time, that may hold others up, and of the machine that may hold up everybody.
//!
//! One field per probe. What is `None` was not looked at, or this host does not say. A field is a level, a share or a count, and merges
//! as such.

use crate::record::figures::merging_record;
use serde::Serialize;
use serde::ser::{Error as _, Serializer};

merging_record! {
    /// Of one sample of a component, or of several merged.
    pub struct Strain {
        /// Processors that it may use: those that it may run on, or its CPU quota where that is less.
        cpu_limit_cores: f64, Cores, highest;
        /// The tightest CPU quota of its control group and of those above it, in cores.
        cpu_quota_cores: f64, Cores, highest;
        /// Of the processors that it may run on, the share of time in which they worked, for whomever; over all samples their mean.
        cpus_busy_share: f64, Share, mean;
        /// CPU of its process that used most, in cores; over all samples their mean.
        busiest_process_cores: f64, Cores, mean;
        /// The share of time in which its busiest thread ran or was ready and waited for a processor; over all samples its mean.
        busiest_thread_ready: f64, Share, mean;
        /// The share of its quota's periods in which it was throttled; over all samples their mean.
        throttled_share: f64, Share, mean;
        /// Page faults for which a disk was read.
        major_faults: u64, Count, sum;
        /// The share of its control group's memory limit that was used; over all samples the largest.
        memory_share: f64, Share, highest;
        /// The share of time in which something in its own control group waited for a processor; over all samples their mean.
        cpu_pressure: f64, Share, mean;
        /// The share of time in which something in its own control group waited for memory; over all samples their mean.
        memory_pressure: f64, Share, mean;
        /// The share of time in which something in its own control group waited for a disk; over all samples their mean.
        io_pressure: f64, Share, mean;
        /// The share of its descriptor limit that a process of it used; over all samples the largest.
        fds_share: f64, Share, highest;
        /// Connections that waited at its listeners to be accepted; over all samples the most.
        accept_queue: u64, Count, highest;
        /// Connections that found an accept queue full, in its network namespace.
        listen_overflows: u64, Count, sum;
        /// Of these, connections that listeners on its own ports dropped.
        listen_drops: u64, Count, sum;
        /// TCP segments sent in its network namespace.
        segments_sent: u64, Count, sum;
        /// Of these, sent again.
        segments_again: u64, Count, sum;
        /// The share of its network namespace's local ports that were taken, by open and by lately closed connections; over all samples the largest.
        ports_share: f64, Share, highest;
        /// The share of the connection tracker's table that was full; over all samples the largest.
        conntrack_share: f64, Share, highest;
        /// Packets that the connection tracker dropped.
        conntrack_drops: u64, Count, sum;
    }
}

merging_record! {
    /// Of one sample of the machine, or of several merged.
    pub struct HostStrain {
        /// The share of all processors' time in which they worked; over all samples their mean.
        cpus_busy_share: f64, Share, mean;
        /// The share of all processors' time that the hypervisor gave to others; over all samples their mean.
        steal_share: f64, Share, mean;
        /// The share of time in which something waited for a processor; over all samples their mean.
        cpu_pressure: f64, Share, mean;
        /// The share of time in which something waited for memory; over all samples their mean.
        memory_pressure: f64, Share, mean;
        /// The share of time in which something waited for a disk; over all samples their mean.
        io_pressure: f64, Share, mean;
        /// Packets that were dropped because a processor's queue was full.
        softnet_dropped: u64, Count, sum;
        /// How often a processor had more packets than one round allows.
        softnet_squeezed: u64, Count, sum;
        /// Processor time that all probes together took, in cores; over all samples their mean.
        probes_cores: f64, Cores, mean;
    }
}

/// The machine over several samples.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HostData {
    /// Observed seconds.
    pub seconds: f64,
    /// Observations in them.
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

/// Serialises known fields only: rows of the series are many.
pub(in crate::record) fn without_nulls<T: Serialize, S: Serializer>(
    strain: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut value = serde_json::to_value(strain).map_err(S::Error::custom)?;
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|_, field| !field.is_null());
    }
    value.serialize(serializer)
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
