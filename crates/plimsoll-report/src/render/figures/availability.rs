//! Tables of outages: by fault, of a year, and trial by trial.

use crate::record::{
    Annual, AvailabilitySummary, Bounds, Estimated, FaultOutages, SHAM, Summary, TrialOutage,
    TrialSummary,
};
use crate::render::table::Table;
use crate::render::words::{count, number, percent, time};

const NOTHING: &str = "–";

/// Outages of every arm by fault; `None` where there are none.
pub(in crate::render) fn outages(summary: &Summary) -> Option<Table> {
    let arms: Vec<(&String, &AvailabilitySummary)> = of_arms(summary).collect();
    arms.first()?;
    let several_arms = arms.len() > 1;
    let mut table = Table::new(
        ["fault"]
            .into_iter()
            .chain(several_arms.then_some("arm"))
            .chain(["breaks", "trials", "void", "failed", "ended by heal"])
            .chain(["median", "95 % of it", "p95", "max", "mean lost"])
            .chain(["impact", "of heal", "resolution"]),
    )
    .with_words(if several_arms { &[1, 2] } else { &[1] });
    for (arm, found) in arms {
        for fault in &found.faults {
            let mut row = vec![fault.name.clone()];
            row.extend(several_arms.then(|| arm.clone()));
            row.extend(cells(fault));
            table.rows.push(row);
        }
        let mut row = vec!["sham".to_owned()];
        row.extend(several_arms.then(|| arm.clone()));
        let with_any = found.sham.with_outage;
        let void = found.void_trials.iter();
        let void = void.filter(|trial| trial.fault == SHAM).count();
        row.extend([NOTHING.to_owned(), count(found.sham.trials.into())]);
        row.push(count(void as u64));
        row.extend([NOTHING; 3].map(str::to_owned));
        row.push(format!("{with_any} with any"));
        row.resize(table.head.len(), NOTHING.to_owned());
        table.rows.push(row);
    }
    Some(table)
}

/// Every arm with trials of faults.
pub(in crate::render) fn of_arms(
    summary: &Summary,
) -> impl Iterator<Item = (&String, &AvailabilitySummary)> {
    let arms = summary.arms.iter();
    arms.filter_map(|(name, arm)| Some((name, arm.availability.as_ref()?)))
}

fn cells(fault: &FaultOutages) -> Vec<String> {
    let target = fault.target.as_deref().unwrap_or_default();
    let least = fault.resolution_s.unwrap_or_default();
    let length = |seconds: Option<f64>| match seconds {
        Some(seconds) if seconds <= least => format!("≤ {}", time(Some(least))),
        seconds => time(seconds),
    };
    let outage = &fault.outage;
    // Some outages would have lasted longer than they were seen.
    let open = |length: String| match fault.trials > 0 && outage.max_bounds_share.is_none() {
        true => format!("at least {length}"),
        false => length,
    };
    vec![
        format!("{} {target}", fault.kind).trim_end().to_owned(),
        count(fault.trials.into()),
        count(fault.void_trials.into()),
        count(fault.failed_failovers.count),
        count(fault.ended_by_heal.into()),
        length(outage.p50.map(|median| median.value)),
        outage
            .p50
            .and_then(interval)
            .unwrap_or_else(|| NOTHING.to_owned()),
        open(length(outage.p95.map(|p95| p95.value))),
        open(length(outage.max)),
        time(fault.lost.map(|lost| lost.value)),
        fault.impact.map_or_else(|| NOTHING.to_owned(), percent),
        heal(fault),
        time(fault.resolution_s),
    ]
}

fn interval(found: Estimated) -> Option<String> {
    let (low, high) = found.low.zip(found.high)?;
    Some(format!("{} to {}", time(Some(low)), time(Some(high))))
}

fn heal(fault: &FaultOutages) -> String {
    match fault.heal.with_outage {
        0 => "none".to_owned(),
        trials => format!("{trials}, up to {}", time(fault.heal.max_s)),
    }
}

/// Sentences on what the trials allow to say, on their resolution, and on what was left out.
pub(in crate::render) fn sentences(summary: &Summary) -> Vec<String> {
    let several_arms = of_arms(summary).count() > 1;
    let mut all = Vec::new();
    for (arm, found) in of_arms(summary) {
        let faults = found.faults.iter().flat_map(|fault| {
            let own = fault.sentences.iter();
            own.map(|said| format!("{}: {said}", fault.name))
        });
        let void = void(found);
        let said = faults.chain(void).chain(found.notes.iter().cloned());
        all.extend(said.map(|said| match several_arms {
            true => format!("{arm}: {said}"),
            false => said,
        }));
    }
    all
}

fn void(found: &AvailabilitySummary) -> Option<String> {
    let last = found.void_trials.last()?;
    let verb = match found.void_trials.len() {
        1 => "does",
        _ => "do",
    };
    Some(format!(
        "{} of {} trials {verb} not count; the last of {}: {}",
        found.void_trials.len(),
        found.trials.len(),
        last.fault,
        last.reasons.join("; ")
    ))
}

/// Figures of a year, the product formula beside them. Either end is certain by itself, so they stand in columns of their own: together they
/// are no interval of 95 %.
pub(in crate::render) fn year(annual: &Annual) -> Table {
    let mut table = Table::new([
        "a year",
        "seconds",
        "at least (95 % certain)",
        "at most (95 % certain)",
        "in service",
        "in service at least (95 % certain)",
    ]);
    let row = |name: String, bounds: Bounds, shares: [String; 2]| {
        let seconds = [bounds.value, bounds.low, bounds.high];
        let seconds = seconds.map(|seconds| time(Some(seconds)));
        [name].into_iter().chain(seconds).chain(shares).collect()
    };
    let expected = &annual.expected;
    let whole = Bounds {
        value: expected.value,
        low: expected.low,
        high: expected.high,
    };
    let shares = [expected.availability, expected.availability_low].map(nines);
    table.rows.push(row("expected".to_owned(), whole, shares));
    table.rows.extend(expected.by_fault.iter().map(|part| {
        let name = format!("  of {}", part.name);
        row(name, part.total, [NOTHING; 2].map(str::to_owned))
    }));
    let plain = |name: &str, seconds: f64| {
        let mut row = vec![name.to_owned(), time(Some(seconds))];
        row.extend([NOTHING; 2].map(str::to_owned));
        row.push(nines(crate::availability::in_service(seconds)));
        row.push(NOTHING.to_owned());
        row
    };
    table
        .rows
        .push(plain("half of all years, at most", annual.year.p50));
    table.rows.push(plain("95 of 100 years", annual.year.p95));
    table.rows.push(plain("99 of 100 years", annual.year.p99));
    table.rows.push(plain(
        "Σ median outage · servers · impact · rate",
        annual.lerna.seconds,
    ));
    table
}

/// Five digits behind the point: the last is three seconds of a year.
fn nines(share: f64) -> String {
    format!("{:.5} %", 100.0 * share)
}

/// Sentences on a year.
pub(in crate::render) fn of_year(found: &AvailabilitySummary) -> Vec<String> {
    let Some(annual) = &found.annual else {
        return Vec::new();
    };
    let within = annual.year.within.zip(found.settings.within_s);
    let chance = within.map(|(chance, within)| {
        format!(
            "{} of years lose at most {}",
            percent(chance),
            time(Some(within))
        )
    });
    annual.sentences.iter().cloned().chain(chance).collect()
}

/// Every trial.
pub(in crate::render) fn trials(found: &AvailabilitySummary) -> Table {
    let mut table = Table::new([
        "trial",
        "fault",
        "victim",
        "outage",
        "lost",
        "impact",
        "of heal",
        "recovered",
        "stall",
        "resolution",
        "rate",
        "control failed",
        "control silent",
        "counts",
    ])
    .with_words(&[1, 2, 13]);
    table.rows.extend(found.trials.iter().map(trial));
    table
}

fn trial(trial: &TrialSummary) -> Vec<String> {
    vec![
        trial.number.to_string(),
        trial.fault.clone(),
        trial.victim.clone().unwrap_or_else(|| NOTHING.to_owned()),
        length(&trial.outage, trial.below_resolution),
        time(Some(trial.outage.lost_s)),
        trial
            .outage
            .impact
            .map_or_else(|| NOTHING.to_owned(), percent),
        length(&trial.heal_outage, false),
        recovered(trial),
        time(Some(trial.stall_s)),
        time(Some(trial.resolution_s)),
        format!("{}/s", number(Some(trial.rate_per_s))),
        count(trial.control.failed),
        time(Some(trial.control.silence_s)),
        match trial.void_reasons.is_empty() {
            true => "yes".to_owned(),
            false => trial.void_reasons.join("; "),
        },
    ]
}

fn length(outage: &TrialOutage, is_below: bool) -> String {
    match (outage.is_any(), is_below) {
        (false, _) => "none seen".to_owned(),
        (true, true) => "below resolution".to_owned(),
        (true, false) => format!(
            "{} to {}",
            time(Some(outage.low_s)),
            time(Some(outage.high_s))
        ),
    }
}

fn recovered(trial: &TrialSummary) -> String {
    match (
        trial.failed_failover,
        trial.failed_over_s.or(trial.recovered_s),
    ) {
        (true, _) => "not in time".to_owned(),
        (false, moment) if trial.reaches_into_heal => format!("{}, healed", time(moment)),
        (false, moment) => time(moment),
    }
}
