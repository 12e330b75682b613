//! Trials that are ahead: which, in which order.

use super::victim::Victim;
use super::{Availability, Fault, FaultKind, Row, SHAM};
use plimsoll_base::random::{Draw, Stream};
use plimsoll_experiment::Experiment;
use std::time::Duration;

/// A trial that is ahead.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ahead {
    /// From 1.
    pub(super) round: u32,
    /// By its place in the experiment.
    pub(super) arm: usize,
    /// By its place in the method; `None`: a sham.
    row: Option<usize>,
    /// How long its fault lasts.
    lasts: Duration,
    /// Seconds that it takes where callers recover at once.
    pub(super) usual_s: f64,
}

/// All trials of a run.
pub(super) fn all(availability: &Availability, experiment: &Experiment, trials: u32) -> Vec<Ahead> {
    let shams = u64::from(availability.shams_of(trials));
    // So many by the end of a round.
    let shams_by = |round: u32| shams * u64::from(round) / u64::from(trials);
    let mut all = Vec::new();
    for (arm, own) in experiment.arms.iter().enumerate() {
        let lasts = |row: &Row| {
            let mut faults = experiment.faults.iter();
            let fault = faults.find(|fault| fault.name == row.fault && fault.is_of(&own.name))?;
            Some(fault.lasts)
        };
        let rows = availability.rows.iter().enumerate();
        let rows = rows.filter_map(|(place, row)| Some((Some(place), lasts(row)?)));
        let rows: Vec<(Option<usize>, Duration)> = rows.collect();
        let longest = rows
            .iter()
            .map(|(_, lasts)| *lasts)
            .max()
            .unwrap_or_default();
        for round in 1..=trials {
            let shams = (shams_by(round - 1)..shams_by(round)).map(|_| (None, longest));
            let of_round = rows.iter().copied().chain(shams);
            all.extend(of_round.map(|(row, lasts)| Ahead {
                round,
                arm,
                row,
                lasts,
                usual_s: availability.usual(lasts, own).as_secs_f64(),
            }));
        }
    }
    all
}

/// The trials of a round, in its order.
pub(super) fn order(all: &[Ahead], seed: u64, round: u32) -> Vec<&Ahead> {
    let mut order: Vec<&Ahead> = all.iter().filter(|one| one.round == round).collect();
    Draw::new(seed, Stream::Order, u64::from(round)).shuffle(&mut order);
    order
}

impl Ahead {
    /// Its row of the answer; `None` of a sham.
    pub(super) fn row(self, availability: &Availability) -> Option<&Row> {
        availability.rows.get(self.row?)
    }

    /// The name of its row; that of shams is [`SHAM`].
    pub(super) fn name(self, availability: &Availability) -> &str {
        self.row(availability).map_or(SHAM, |row| &row.name)
    }

    /// Its fault, at this moment of the measured time.
    pub(super) fn fault(
        self,
        availability: &Availability,
        experiment: &Experiment,
        victim: &Victim,
        at: Duration,
    ) -> Fault {
        let sham = || Fault {
            name: SHAM.to_owned(),
            at,
            lasts: self.lasts,
            arms: Vec::new(),
            kind: FaultKind::Nothing,
        };
        let Some(row) = self.row(availability) else {
            return sham();
        };
        let mut faults = experiment.faults.iter();
        let Some(fault) = faults.find(|fault| fault.name == row.fault) else {
            return sham();
        };
        let on = victim.name.as_deref().and_then(|name| fault.kind.on(name));
        Fault {
            at,
            kind: on.unwrap_or_else(|| fault.kind.clone()),
            ..fault.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_experiment::Method;
    use plimsoll_experiment::memory::Memory;

    #[test]
    fn every_round_has_each_fault_once_and_shams_are_spread() {
        let text = "version: 1\nname: x\ncomponents: { a: { mock: {} }, b: { mock: {} } }\nscenario: [{ get: / }]\nload: { rate: 100/s, target: a }\nfaults: { one: { kill: a, for: 1s }, two: { freeze: b, for: 2s } }\nmethod: { availability: { trials: 20, shams: 5, faults: { a: { fault: one }, b: { fault: two } } } }\n";
        let experiment = Memory::new(text, &[]).load(&[]).unwrap();
        let Method::Availability(availability) = &experiment.method else {
            panic!("{:?}", experiment.method);
        };
        let all = all(availability, &experiment, 20);
        let mut shams = Vec::new();
        for round in 1..=20 {
            let order = order(&all, 7, round);
            let rows: Vec<Option<usize>> = order.iter().map(|one| one.row).collect();
            assert!(
                rows.contains(&Some(0)) && rows.contains(&Some(1)),
                "{rows:?}"
            );
            shams.push(rows.len() - 2);
        }
        assert_eq!(shams, [0, 0, 0, 1].repeat(5));
        let sham = all.iter().find(|one| one.row.is_none()).unwrap();
        let fault = sham.fault(
            availability,
            &experiment,
            &Victim::default(),
            Duration::ZERO,
        );
        assert_eq!((fault.kind.word(), fault.lasts.as_secs()), ("nothing", 2));
    }
}
