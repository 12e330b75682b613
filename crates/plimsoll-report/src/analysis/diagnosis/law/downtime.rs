//! Time out of service in a year: `Σ outage · impact · machines · faults of one machine in a year`, and what a few trials say of it.

use super::percent;
use crate::analysis::diagnosis::{Cause, Conclusion, Fault, FaultTable, Figures};
use plimsoll_base::units::{format_number, format_seconds};

/// A year of 365 days, in seconds.
const YEAR: f64 = 31_536_000.0;
/// By how much more often faults may come than was assumed, to see what rests on it.
const MORE_OFTEN: f64 = 10.0;
/// The chance that a conclusion from trials without a failure is wrong.
const DOUBT: f64 = 0.05;

/// Adds the faults up.
pub(super) fn conclude(figures: &Figures) -> Vec<Conclusion> {
    figures.faults.iter().map(of_table).collect()
}

fn of_table(table: &FaultTable) -> Conclusion {
    let total: f64 = table.faults.iter().map(downtime).sum();
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
    evidence.extend((table.claimed).and_then(|claimed| room(table, claimed, total)));
    Conclusion {
        observations: Vec::new(),
        cause: Cause::Downtime,
        statement: format!(
            "{} a year out of service: {}.",
            format_seconds(total),
            availability(total)
        ),
        evidence,
        ruled_out: Vec::new(),
    }
}

fn downtime(fault: &Fault) -> f64 {
    fault.outage * hits(fault)
}

/// How often in a year all requests are hit, or as many parts of them as make a whole.
fn hits(fault: &Fault) -> f64 {
    fault.servers * fault.impact * fault.per_year
}

fn line(fault: &Fault) -> String {
    format!(
        "{}: {} = {} · {} · {} · {}",
        fault.name,
        format_seconds(downtime(fault)),
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

/// Room that the claimed availability leaves for faults that do not heal by themselves, and how many trials would show that these are as rare.
fn room(table: &FaultTable, claimed: f64, total: f64) -> Option<String> {
    let allowed = (1.0 - claimed) * YEAR;
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
    let hits: f64 = table.faults.iter().map(hits).sum();
    let Some(repair) = table.repair else {
        return Some(format!("{left}; how long a repair takes is not stated"));
    };
    let share = room / (hits * repair);
    Some(format!(
        "{left}: {} of faults if a repair takes {}, which about {} further trials without a failure would show ({} certain)",
        fine_percent(share),
        format_seconds(repair),
        two_digits(trials(share)?),
        percent(1.0 - DOUBT)
    ))
}

/// Trials without one failure after which a share of failures of so much is ruled out: `(1 − share)^n = 5 %`.
fn trials(share: f64) -> Option<f64> {
    (share > 0.0 && share < 1.0).then(|| (DOUBT.ln() / (-share).ln_1p()).ceil())
}

/// Two digits are all that such an estimate is worth: `3,100`.
fn two_digits(count: f64) -> String {
    let unit = 10_f64.powf((count.log10().floor() - 1.0).max(0.0));
    format_number((count / unit).round() * unit)
}

fn fine_percent(share: f64) -> String {
    format!("{:.3} %", share * 100.0)
}

/// Six digits behind the point: a second of a year is the sixth.
fn availability(seconds: f64) -> String {
    format!("{:.6} %", (1.0 - seconds / YEAR) * 100.0)
}

/// As it was written: without zeros at its end.
fn share_of_year(share: f64) -> String {
    let text = format!("{:.8}", share * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}
