//! Pairs each second's throughput with what components used in the same second, which come at different times.

use plimsoll_load::fragment::Fragment;
use plimsoll_report::record::{ArmData, ComponentSample};
use std::collections::VecDeque;

/// Seconds of which one half is known and the other awaited.
const MOST_OPEN: usize = 16;
/// How far a sample's ends may lie from whole seconds of the load.
const OFF: f64 = 0.1;

/// Seconds of one load.
#[derive(Debug, Default)]
pub struct Pairing {
    throughput: VecDeque<(u32, f64)>,
    cores: VecDeque<(u32, Vec<(String, f64)>)>,
}

impl Pairing {
    /// Takes the throughput of a second of the measured time into account.
    pub fn answered(&mut self, fragment: &Fragment, per_s: f64, data: &mut ArmData) {
        if fragment.warmup || fragment.length_s < 1.0 - OFF {
            return;
        }
        push(&mut self.throughput, (fragment.second, per_s));
        self.pair(data);
    }

    /// Takes samples into account that were made `since_start` seconds after the load began.
    pub fn sampled(
        &mut self,
        since_start: f64,
        samples: &[(String, ComponentSample)],
        data: &mut ArmData,
    ) {
        let second = since_start.round() - 1.0;
        if second < 0.0 || (since_start - second - 1.0).abs() > OFF {
            return;
        }
        let whole = samples
            .iter()
            .filter(|(_, sample)| (sample.length_s - 1.0).abs() <= OFF);
        let cores = whole.filter_map(|(name, sample)| Some((name.clone(), sample.cpu_cores?)));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number of seconds of a load"
        )]
        push(&mut self.cores, (second as u32, cores.collect()));
        self.pair(data);
    }

    fn pair(&mut self, data: &mut ArmData) {
        while let Some(place) = self
            .cores
            .iter()
            .position(|(second, _)| self.throughput.iter().any(|(other, _)| other == second))
        {
            let Some((second, cores)) = self.cores.remove(place) else {
                return;
            };
            let same = self.throughput.iter().find(|(other, _)| *other == second);
            let Some((_, per_s)) = same.copied() else {
                return;
            };
            for (name, cores) in cores {
                let component = data.components.entry(name).or_default();
                component.demand.observe(per_s, cores);
            }
            self.throughput.retain(|(other, _)| *other != second);
        }
    }
}

fn push<T>(queue: &mut VecDeque<T>, item: T) {
    if queue.len() == MOST_OPEN {
        queue.pop_front();
    }
    queue.push_back(item);
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_report::record::LoadModel;

    #[test]
    fn seconds_meet_in_whatever_order_they_come() {
        let mut data = ArmData::new("a", "t", LoadModel::Open, None);
        let mut pairing = Pairing::default();
        let fragment = |second, warmup| Fragment {
            second,
            warmup,
            length_s: 1.0,
            ..Fragment::default()
        };
        let sample = |cores| {
            let sample = ComponentSample {
                length_s: 1.0,
                cpu_cores: Some(cores),
                ..ComponentSample::default()
            };
            vec![("c".to_owned(), sample)]
        };
        for second in 0..10_u32 {
            let (per_s, cores) = (100.0 * f64::from(second), 0.1 * f64::from(second));
            let end = f64::from(second + 1) + 0.002;
            if second % 2 == 0 {
                pairing.sampled(end, &sample(cores), &mut data);
                pairing.answered(&fragment(second, second < 2), per_s, &mut data);
            } else {
                pairing.answered(&fragment(second, second < 2), per_s, &mut data);
                pairing.sampled(end, &sample(cores), &mut data);
            }
        }
        let line = data.components["c"].demand.line().unwrap();
        assert!((line.per_exchange_s - 1e-3).abs() < 1e-9, "{line:?}");
        pairing.sampled(11.5, &sample(9.0), &mut data);
        assert!(pairing.cores.iter().all(|(second, _)| *second < 2));
    }
}
