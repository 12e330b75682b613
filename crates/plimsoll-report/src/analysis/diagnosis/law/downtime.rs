//! Time out of service in a year: `Σ outage · impact · machines · faults of one machine in a year`, and what a few trials say of it.

use super::percent;
use crate::analysis::diagnosis::{Cause, Conclusion, Fault, FaultTable, Figures};
use crate::availability::{PointFault, YEAR_S, failures_afforded, in_service, two_digits};
use crate::statistics::{CONFIDENCE, left_open_by};
use plimsoll_base::units::{format_number, format_seconds};

/// By how much more often faults may come than was assumed, to see what rests on it.
const MORE_OFTEN: f64 = 10.0;

/// Adds the faults up.
pub(super) fn conclude(figures: &Figures) -> Vec<Conclusion> {
    figures.faults.iter().map(of_table).collect()
}

fn of_table(table: &FaultTable) -> Conclusion {
    let total: f64 = table.faults.iter().map(|one| point(one).downtime_s()).sum();
    let mut evidence =
        vec!["for each: outage · machines · impact · faults of one machine in a year".to_owned()];
    evidence.extend(table.faults.iter().map(line));
    evidence.push(format!(
        "{} if faults come {} times as often",
        availability(total * MORE_OFTEN),
        format_number(MORE_OFTEN)
    ));
    evidence.extend(table.rate.map(|rate| resolution(rate, &table.faults)));
    evidence.extend(tried(&table.faults));
    evidence.extend(left_open(&table.faults));
    evidence.extend((table.claimed).and_then(|claimed| room(table, claimed, total)));
    Conclusion {
        observations: Vec::new(),
        cause: Cause::Downtime,
        statement: format!(
            "{total:.2} s a year out of service: {}.",
            availability(total)
        ),
        evidence,
        ruled_out: Vec::new(),
    }
}

fn point(fault: &Fault) -> PointFault {
    PointFault {
        outage_s: fault.outage,
        servers: fault.servers,
        impact: fault.impact,
        per_year: fault.per_year,
    }
}

fn line(fault: &Fault) -> String {
    format!(
        "{}: {} = {} · {} · {} · {}",
        fault.name,
        format_seconds(point(fault).downtime_s()),
        format_seconds(fault.outage),
        format_number(fault.servers),
        percent(fault.impact),
        format_number(fault.per_year)
    )
}

/// A request comes once in so long, and to those that a fault hits less often.
fn resolution(rate: f64, faults: &[Fault]) -> String {
    let told = |impact: f64| format_seconds(1.0 / (rate * impact));
    let least = faults
        .iter()
        .map(|fault| fault.impact)
        .filter(|impact| *impact > 0.0)
        .fold(1.0, f64::min);
    let of_few = if least < 1.0 {
        format!(
            ", {} of a fault that hits {} of them",
            told(least),
            percent(least)
        )
    } else {
        String::new()
    };
    format!(
        "{}: the shortest outage that {}/s can tell{of_few}",
        told(1.0),
        format_number(rate)
    )
}

/// How often each was tried.
fn tried(faults: &[Fault]) -> Vec<String> {
    let named = |is: fn(Option<u32>) -> bool, what: &str| {
        let names: Vec<&str> = (faults.iter())
            .filter(|fault| is(fault.trials))
            .map(|fault| fault.name.as_str())
            .collect();
        (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")))
    };
    let once = named(
        |trials| trials.is_some_and(|trials| trials < 2),
        "tried once, so without an interval",
    );
    let unstated = named(
        |trials| trials.is_none(),
        "not stated how often it was tried",
    );
    once.into_iter().chain(unstated).collect()
}

/// The chance of a failed failover that all trials together leave open: each of them ended with an outage that could be stated.
fn left_open(faults: &[Fault]) -> Option<String> {
    let trials: Option<u32> = faults.iter().map(|fault| fault.trials).sum();
    let trials = trials.filter(|trials| *trials > 0)?;
    Some(format!(
        "{} that came back {}: up to {} of failovers may fail nevertheless ({} certain)",
        counted(trials),
        if trials == 1 {
            "is no proof"
        } else {
            "are no proof"
        },
        percent(left_open_by(u64::from(trials))),
        percent(CONFIDENCE)
    ))
}

fn counted(trials: u32) -> String {
    match trials {
        1 => "1 trial".to_owned(),
        _ => format!("{} trials", format_number(f64::from(trials))),
    }
}

/// Room that the claimed availability leaves for faults that do not heal by themselves, and how many trials would show that these are as rare.
fn room(table: &FaultTable, claimed: f64, total: f64) -> Option<String> {
    let allowed = (1.0 - claimed) * YEAR_S;
    let claimed = share_of_year(claimed);
    if total > allowed {
        return Some(format!(
            "{claimed} is {} a year, which these figures exceed",
            format_seconds(allowed)
        ));
    }
    let room = allowed - total;
    let left = format!(
        "{claimed} is {} a year, which leaves {} for what does not come back by itself",
        format_seconds(allowed),
        format_seconds(room)
    );
    let hits: f64 = table.faults.iter().map(|one| point(one).hits()).sum();
    let Some(repair) = table.repair else {
        return Some(format!("{left}; how long a repair takes is not stated"));
    };
    let (share, trials) = failures_afforded(room, hits * repair)?;
    Some(format!(
        "{left}: {} of faults if a repair takes {}, which about {} further trials without a failure would show ({} certain)",
        fine_percent(share),
        format_seconds(repair),
        two_digits(trials),
        percent(CONFIDENCE)
    ))
}

fn fine_percent(share: f64) -> String {
    format!("{:.3} %", share * 100.0)
}

/// Six digits behind the point: a second of a year is the sixth.
fn availability(seconds: f64) -> String {
    format!("{:.6} %", in_service(seconds) * 100.0)
}

/// As it was written: without zeros at its end.
fn share_of_year(share: f64) -> String {
    let text = format!("{:.8}", share * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}
