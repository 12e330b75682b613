//! All trials of an arm together.

use super::annual::annual;
use super::figures::{Impact, Table, count};
use super::year::FaultInputs;
use crate::record::{
    Annual, AvailabilitySettings, AvailabilitySummary, FaultFacts, FaultOutages, Role, SHAM,
    ShamSummary, TrialSummary, VoidTrial,
};
use std::collections::BTreeSet;

/// Summarises the trials of an arm. `seed` keys everything that is resampled.
#[must_use]
pub fn summarise(
    settings: &AvailabilitySettings,
    trials: Vec<TrialSummary>,
    seed: u64,
) -> AvailabilitySummary {
    let mut faults = Vec::new();
    let mut inputs = Vec::new();
    for (row, facts) in &settings.faults {
        let all = table(row, None, &trials);
        let found = all.figures(settings, seed, faults.len() as u64);
        inputs.extend(fault_inputs(&all, facts, &found));
        faults.push(found);
        for role in several_roles(&all) {
            let of_role = table(row, Some(role), &trials);
            faults.push(of_role.figures(settings, seed, faults.len() as u64));
        }
    }
    let (annual, note) = of_a_year(settings, &inputs, seed);
    let sham = sham(&trials);
    AvailabilitySummary {
        settings: settings.clone(),
        faults,
        sham,
        void_trials: void(&trials),
        annual,
        notes: of_shams(sham).into_iter().chain(note).collect(),
        trials,
    }
}

/// Trials of a row; of one role, where it is named.
fn table<'a>(row: &'a str, role: Option<Role>, trials: &'a [TrialSummary]) -> Table<'a> {
    let own = trials.iter().filter(|trial| trial.fault == row);
    let own = own.filter(|trial| role.is_none() || trial.role == role);
    let own: Vec<&TrialSummary> = own.collect();
    let name = role.map_or_else(|| row.to_owned(), |role| role.row(row));
    let roles: BTreeSet<Option<Role>> = own.iter().map(|trial| trial.role).collect();
    let only = if roles.len() == 1 {
        roles.first().copied().flatten()
    } else {
        None
    };
    Table {
        name,
        row,
        role: only,
        trials: own,
    }
}

/// Roles of victims, where there is more than one.
fn several_roles(table: &Table<'_>) -> Vec<Role> {
    let roles: BTreeSet<Role> = table.trials.iter().filter_map(|trial| trial.role).collect();
    match roles.len() {
        0 | 1 => Vec::new(),
        _ => roles.into_iter().collect(),
    }
}

/// Inputs of a year; `None` where it is not said how often the fault happens, or no trial of it counts.
fn fault_inputs(
    table: &Table<'_>,
    facts: &FaultFacts,
    found: &FaultOutages,
) -> Option<FaultInputs> {
    let counted: Vec<&TrialSummary> = table.counted().collect();
    let (failed, recovered): (Vec<&TrialSummary>, Vec<&TrialSummary>) =
        (counted.iter().copied()).partition(|trial| trial.is_cut_short());
    Some(FaultInputs {
        name: table.name.clone(),
        servers: f64::from(facts.servers),
        per_year: facts.per_year?,
        lost_s: (recovered.iter())
            .map(|trial| trial.outage.lost_s + trial.heal_outage.lost_s)
            .collect(),
        failed: failed.len() as u64,
        ended_by_heal: found.ended_by_heal.into(),
        // Of those that failed, if there are any; where nobody saw an outage, all may be hit.
        impact: (Impact::of(&failed).or_else(|| Impact::of(&counted))).unwrap_or(Impact::WHOLE),
        median_s: found.outage.p50?.value,
    })
}

/// Figures of a year, or a sentence on why there are none.
fn of_a_year(
    settings: &AvailabilitySettings,
    inputs: &[FaultInputs],
    seed: u64,
) -> (Option<Annual>, Option<String>) {
    let unstated: Vec<&str> = (settings.faults.iter())
        .filter(|(_, facts)| facts.per_year.is_none())
        .map(|(row, _)| row.as_str())
        .collect();
    if !unstated.is_empty() {
        let sentence = format!(
            "nothing is said of a year: `per_year` is not stated for {}",
            unstated.join(", ")
        );
        return (None, Some(sentence));
    }
    if inputs.len() < settings.faults.len() || inputs.is_empty() {
        let sentence = "nothing is said of a year: of some fault no trial counts";
        return (None, Some(sentence.to_owned()));
    }
    (Some(annual(settings, inputs, seed)), None)
}

fn sham(trials: &[TrialSummary]) -> ShamSummary {
    let shams = trials
        .iter()
        .filter(|trial| trial.fault == SHAM && trial.void_reasons.is_empty());
    let with_any =
        (shams.clone()).filter(|trial| trial.outage.is_any() || trial.heal_outage.is_any());
    ShamSummary {
        trials: count(shams.clone().count()),
        with_outage: count(with_any.count()),
    }
}

/// A sentence on the shams, unless all was well in them.
fn of_shams(sham: ShamSummary) -> Option<String> {
    match sham {
        ShamSummary { trials: 0, .. } => Some(
            "no sham counts: nothing tells how often callers fail though nothing is broken"
                .to_owned(),
        ),
        ShamSummary { with_outage: 0, .. } => None,
        ShamSummary {
            trials,
            with_outage,
        } => Some(format!(
            "in {with_outage} of {trials} shams callers failed though nothing was broken: outages of faults may be as little their doing"
        )),
    }
}

fn void(trials: &[TrialSummary]) -> Vec<VoidTrial> {
    let void = trials.iter().filter(|trial| !trial.void_reasons.is_empty());
    void.map(|trial| VoidTrial {
        number: trial.number,
        fault: trial.fault.clone(),
        reasons: trial.void_reasons.clone(),
    })
    .collect()
}
