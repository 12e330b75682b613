//! Trials that `availability` makes of arms and faults: whether they can say what they are to say, how long they take, and by which
//! definitions they are read.

mod check;
mod control;
mod length;
#[cfg(test)]
mod tests;

pub(super) use check::{check, prepare};
pub(super) use control::with_control;

use plimsoll_report::record::{AvailabilitySettings, FaultFacts, Retries};
use std::time::Duration;

use super::arm::Arm;
use super::fault::{Fault, FaultKind};
use super::method::availability::{Availability, Row};

impl Availability {
    /// Faults on the components that their rows choose among.
    #[must_use]
    pub fn variants(&self, faults: &[Fault]) -> Vec<FaultKind> {
        let of_row = |row: &Row| -> Vec<FaultKind> {
            let fault = faults.iter().find(|fault| fault.name == row.fault);
            let kinds = row.among.iter().map(|name| fault?.kind.on(name));
            kinds.flatten().collect()
        };
        self.rows.iter().flat_map(of_row).collect()
    }

    /// The rows that are tried in an arm, each with its fault.
    pub fn tried<'a>(
        &'a self,
        faults: &'a [Fault],
        arm: &'a Arm,
    ) -> impl Iterator<Item = (&'a Row, &'a Fault)> {
        let rows = self.rows.iter();
        rows.filter_map(|row| {
            let mut faults = faults.iter();
            let fault = faults.find(|fault| fault.name == row.fault && fault.is_of(&arm.name))?;
            Some((row, fault))
        })
    }

    /// So long after its intended start an exchange of an arm has ended, or failed by then.
    #[must_use]
    pub fn known_after(&self, arm: &Arm) -> Duration {
        arm.longest_timeout().max(self.deadline)
    }

    /// The definitions by which trials of an arm are read.
    #[must_use]
    pub fn settings(&self, arm: &Arm, faults: &[Fault]) -> AvailabilitySettings {
        let facts = |(row, fault): (&Row, &Fault)| {
            let target = match row.among.is_empty() {
                true => fault.kind.target(),
                false => Some(row.among.join(", ")),
            };
            let facts = FaultFacts {
                fault: fault.name.clone(),
                kind: fault.kind.word().to_owned(),
                target,
                servers: row.servers,
                per_year: row.per_year,
            };
            (row.name.clone(), facts)
        };
        AvailabilitySettings {
            rate_per_s: arm.rate().unwrap_or_default(),
            deadline_s: self.deadline.as_secs_f64(),
            slow_s: self.slow.as_secs_f64(),
            gap_s: self.gap.as_secs_f64(),
            settle_s: self.settle.as_secs_f64(),
            abort_s: self.abort.as_secs_f64(),
            repair_s: self.repair.map(|repair| repair.as_secs_f64()),
            within_s: self.within.map(|within| within.as_secs_f64()),
            retries: self.retries.map(|(times, after)| Retries {
                times,
                after_s: after.as_secs_f64(),
            }),
            faults: self.tried(faults, arm).map(facts).collect(),
        }
    }
}
