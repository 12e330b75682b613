//! All figures of a year, and what they rest on.

use super::chance::years;
use super::needed::needed;
use super::product::{PointFault, in_service};
use super::tornado::bars;
use super::year::{FaultInputs, Values, expected};
use crate::record::{
    Annual, AvailabilitySettings, ExpectedYear, FaultYear, ProductFormula, TrialsNeeded,
};
use plimsoll_base::units::{format_number, format_seconds};

/// The figures of a year of these faults.
#[must_use]
pub fn annual(settings: &AvailabilitySettings, faults: &[FaultInputs], seed: u64) -> Annual {
    // Callers who had not recovered after `abort` lost that much at least.
    let repair_s = settings.repair_s.unwrap_or(settings.abort_s);
    let found = expected(faults, repair_s, seed);
    let by_fault = faults.iter().zip(&found.by_fault);
    let by_fault = by_fault.map(|(fault, total)| {
        let values = Values::of(fault, repair_s);
        FaultYear {
            name: fault.name.clone(),
            faults_per_year: values.faults,
            recovered_s: values.recovered_s(),
            repaired_s: values.repaired_s(),
            total: *total,
        }
    });
    let expected = ExpectedYear {
        value: found.total.value,
        low: found.total.low,
        high: found.total.high,
        availability: in_service(found.total.value),
        availability_low: in_service(found.total.high),
        by_fault: by_fault.collect(),
    };
    let open = settings.within_s.filter(|within| expected.high > *within);
    let trials_needed = open
        .filter(|_| settings.repair_s.is_some())
        .and_then(|within| needed(faults, repair_s, within, seed));
    let downtime: f64 = faults.iter().map(|fault| point(fault).downtime_s()).sum();
    let lerna = ProductFormula {
        seconds: downtime,
        availability: in_service(downtime),
    };
    let sentences = sentences(settings, faults, &expected, trials_needed);
    Annual {
        expected,
        year: years(faults, repair_s, settings.within_s, seed),
        lerna,
        trials_needed,
        tornado: bars(faults, repair_s, seed),
        sentences,
    }
}

fn point(fault: &FaultInputs) -> PointFault {
    PointFault {
        outage_s: fault.median_s,
        servers: fault.servers,
        impact: fault.impact.estimate,
        per_year: fault.rate(),
    }
}

fn sentences(
    settings: &AvailabilitySettings,
    faults: &[FaultInputs],
    expected: &ExpectedYear,
    needed: Option<TrialsNeeded>,
) -> Vec<String> {
    let mut said = vec![format!(
        "at most {} a year are expected (95 % certain): {:.5} % in service",
        format_seconds(expected.high),
        100.0 * expected.availability_low
    )];
    if settings.repair_s.is_none() {
        said.push(format!(
            "`repair` is not stated: a failed failover is priced at `abort`, {}, which it takes at least, so a year may lose more than this",
            format_seconds(settings.abort_s)
        ));
    }
    said.extend(
        settings
            .within_s
            .map(|within| of_within(settings, within, expected, needed)),
    );
    said.extend(ended_by_heal(faults));
    let alone: Vec<&str> = (faults.iter())
        .filter(|fault| fault.lost_s.len() < 2)
        .map(|fault| fault.name.as_str())
        .collect();
    if !alone.is_empty() {
        said.push(format!(
            "callers recovered by themselves from fewer than two trials, so the mean has no interval: {}",
            alone.join(", ")
        ));
    }
    said.push(
        "years by chance are drawn with what the trials leave open: half of them may lose far more than is expected".to_owned(),
    );
    said.push(
        "what a heal costs is counted with its fault; rates are stated, not measured here"
            .to_owned(),
    );
    said.push(
        "no row is for faults that come together or have one cause, nor for deploys, configuration and people".to_owned(),
    );
    said
}

/// Trials that do not show how long it lasts until somebody repairs it.
fn ended_by_heal(faults: &[FaultInputs]) -> Option<String> {
    let ended = faults.iter().filter(|fault| fault.ended_by_heal > 0);
    let rows = ended.map(|fault| {
        format!(
            "{} of {} of {}",
            fault.ended_by_heal,
            fault.failed + fault.lost_s.len() as u64,
            fault.name
        )
    });
    let rows: Vec<String> = rows.collect();
    (!rows.is_empty()).then(|| {
        format!(
            "trials in which callers may have come back only because the fault was healed are priced as failed failovers, as nobody else heals it: {}",
            rows.join(", ")
        )
    })
}

#[expect(clippy::cast_precision_loss, reason = "two digits of them are kept")]
fn of_within(
    settings: &AvailabilitySettings,
    within: f64,
    expected: &ExpectedYear,
    needed: Option<TrialsNeeded>,
) -> String {
    let wanted = format_seconds(within);
    if expected.high <= within {
        return format!("the upper end is within {wanted}");
    }
    match needed {
        None if settings.repair_s.is_none() => {
            format!(
                "the upper end is not within {wanted}; how many trials would show it depends on `repair`"
            )
        }
        None => format!(
            "no number of trials would bring the upper end within {wanted}: what callers recover from takes too much of it"
        ),
        Some(TrialsNeeded { of_each, pooled }) => {
            let pooled = pooled.map_or_else(String::new, |pooled| {
                format!(
                    ", or about {} of all together if they fail alike",
                    two_digits(pooled as f64)
                )
            });
            format!(
                "about {} more trials of each without a failed failover would bring the upper end within {wanted}{pooled}",
                two_digits(of_each as f64)
            )
        }
    }
}

/// Two digits are all that such an estimate is worth: `3,100`.
#[must_use]
pub fn two_digits(count: f64) -> String {
    let unit = 10_f64.powf((count.log10().floor() - 1.0).max(0.0));
    format_number((count / unit).round() * unit)
}
