//! Trials that are ahead: which, in which order.

use super::{Availability, Fault, FaultKind, Row, SHAM};
use plimsoll_base::random::{Draw, Stream};
use plimsoll_experiment::{Arm, Experiment};
use std::time::Duration;

/// A trial that is ahead.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ahead<'a> {
    /// From 1.
    pub(super) round: u32,
    pub(super) arm: &'a Arm,
    /// Its row of the answer, with the fault; `None`: a sham.
    tried: Option<(&'a Row, &'a Fault)>,
    /// How long its fault lasts.
    pub(super) lasts: Duration,
    /// Seconds that it takes where callers recover at once.
    pub(super) usual_s: f64,
}

/// All trials of a run.
pub(super) fn all<'a>(
    availability: &'a Availability,
    experiment: &'a Experiment,
    trials: u32,
) -> Vec<Ahead<'a>> {
    let shams = u64::from(availability.shams_of(trials));
    // So many by the end of a round.
    let shams_by = |round: u32| shams * u64::from(round) / u64::from(trials);
    let mut all = Vec::new();
    for arm in &experiment.arms {
        let tried: Vec<_> = availability.tried(&experiment.faults, arm).collect();
        let lasts = tried.iter().map(|(_, fault)| fault.lasts);
        let longest = lasts.max().unwrap_or_default();
        for round in 1..=trials {
            let shams = (shams_by(round - 1)..shams_by(round)).map(|_| None);
            let of_round = tried.iter().copied().map(Some).chain(shams);
            all.extend(of_round.map(|tried| {
                let lasts = tried.map_or(longest, |(_, fault)| fault.lasts);
                Ahead {
                    round,
                    arm,
                    tried,
                    lasts,
                    usual_s: availability.usual(lasts, arm).as_secs_f64(),
                }
            }));
        }
    }
    all
}

/// The trials of a round, in its order.
pub(super) fn order<'p, 'a>(all: &'p [Ahead<'a>], seed: u64, round: u32) -> Vec<&'p Ahead<'a>> {
    let mut order: Vec<&Ahead<'_>> = all.iter().filter(|one| one.round == round).collect();
    Draw::new(seed, Stream::Order, u64::from(round)).shuffle(&mut order);
    order
}

impl<'a> Ahead<'a> {
    /// Its row of the answer; `None` of a sham.
    pub(super) fn row(&self) -> Option<&'a Row> {
        self.tried.map(|(row, _)| row)
    }

    /// The name of its row; that of shams is [`SHAM`].
    pub(super) fn name(&self) -> &'a str {
        self.row().map_or(SHAM, |row| &row.name)
    }

    /// Its fault, at this moment of the measured time, on this component if one was chosen.
    pub(super) fn fault(&self, victim: Option<&str>, at: Duration) -> Fault {
        let Some((_, fault)) = self.tried else {
            return Fault {
                name: SHAM.to_owned(),
                at,
                lasts: self.lasts,
                arms: Vec::new(),
                kind: FaultKind::Nothing,
            };
        };
        let on = victim.and_then(|name| fault.kind.on(name));
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
            let rows: Vec<&str> = order.iter().map(|one| one.name()).collect();
            assert!(rows.contains(&"a") && rows.contains(&"b"), "{rows:?}");
            shams.push(rows.len() - 2);
        }
        assert_eq!(shams, [0, 0, 0, 1].repeat(5));
        let sham = all.iter().find(|one| one.row().is_none()).unwrap();
        let fault = sham.fault(None, Duration::ZERO);
        assert_eq!((fault.kind.word(), fault.lasts.as_secs()), ("nothing", 2));
    }
}
