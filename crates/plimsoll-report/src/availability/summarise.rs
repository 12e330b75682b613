//! All trials of an arm together.

use crate::record::{
    AvailabilitySettings, AvailabilitySummary, FaultTrial, ShamSummary, TrialSummary, VoidTrial,
};

/// Summarises the trials of an arm. `seed` keys everything that is resampled.
#[must_use]
pub fn summarise(
    settings: &AvailabilitySettings,
    trials: Vec<(FaultTrial, TrialSummary)>,
    seed: u64,
) -> AvailabilitySummary {
    let _ = seed;
    let shams = trials
        .iter()
        .filter(|(row, _)| row.is_sham() && row.counts());
    let with_outage = shams.clone().filter(|(_, read)| read.outage.is_any());
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    AvailabilitySummary {
        settings: settings.clone(),
        faults: Vec::new(),
        sham: ShamSummary {
            trials: count(shams.clone().count()),
            with_outage: count(with_outage.count()),
        },
        void_trials: void(&trials),
        annual: None,
        notes: Vec::new(),
        trials: trials.into_iter().map(|(_, read)| read).collect(),
    }
}

fn void(trials: &[(FaultTrial, TrialSummary)]) -> Vec<VoidTrial> {
    let void = trials.iter().filter(|(row, _)| !row.counts());
    void.map(|(row, _)| VoidTrial {
        number: row.number,
        fault: row.fault.clone(),
        reasons: row.void.clone(),
    })
    .collect()
}
