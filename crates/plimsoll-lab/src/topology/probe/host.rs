//! Samples of the machine: how busy and how stolen its processors are, what waits, and what the network's interrupts lost.

use super::moment::Moment;
use super::pressure::Waited;
use super::processors::Processors;
use super::softnet::Softnet;
use super::steal::MachineTimes;
use plimsoll_report::record::HostStrain;
use std::time::Duration;
use tokio::time::Instant;

/// Samples the machine about once a second.
#[derive(Debug, Default)]
pub struct HostProbe {
    before: Option<Reading>,
}

#[derive(Debug)]
struct Reading {
    at: Instant,
    processors: Processors,
    times: Option<MachineTimes>,
    waited: Waited,
    softnet: Option<Softnet>,
}

impl HostProbe {
    /// Observations since the sample before, and its length in seconds; `None` for the first. `probes`: processor time that probes took
    /// in that time.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn sample(&mut self, moment: &Moment, probes: Duration) -> Option<(HostStrain, f64)> {
        let reading = Reading {
            at: moment.now,
            processors: moment.processors.clone(),
            times: moment.times,
            waited: Waited::of_machine(),
            softnet: Softnet::read(),
        };
        let before = self.before.replace(reading)?;
        let reading = self.before.as_ref()?;
        let length_s = reading.at.duration_since(before.at).as_secs_f64();
        if length_s <= 0.0 {
            return None;
        }
        let waited = reading.waited.since(before.waited, length_s);
        let softnet = reading.softnet.zip(before.softnet);
        let softnet = softnet.map(|(after, before)| after.since(before));
        let stolen = reading.times.zip(before.times);
        let stolen = stolen.map(|(after, before)| after.since(before));
        let strain = HostStrain {
            cpus_busy_share: reading.processors.busy_since(&before.processors, None),
            steal_share: stolen
                .filter(|(_, all)| *all > 0)
                .map(|(stolen, all)| stolen as f64 / all as f64),
            cpu_pressure: waited.cpu,
            memory_pressure: waited.memory,
            io_pressure: waited.io,
            softnet_dropped: softnet.map(|softnet| softnet.dropped),
            softnet_squeezed: softnet.map(|softnet| softnet.squeezed),
            probes_cores: Some(probes.as_secs_f64() / length_s),
        };
        Some((strain, length_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_seen() {
        let mut probe = HostProbe::default();
        let mut moment = Moment::read(Instant::now());
        assert_eq!(probe.sample(&moment, Duration::ZERO), None);
        moment.now += Duration::from_secs(2);
        let (strain, length_s) = probe.sample(&moment, Duration::from_millis(10)).unwrap();
        assert_eq!((strain.probes_cores, length_s), (Some(0.005), 2.0));
        assert!(strain.softnet_dropped.is_some(), "{strain:?}");
    }
}
