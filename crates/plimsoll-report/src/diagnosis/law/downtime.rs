//! Time out of service in a year: `Σ outage · impact · machines · faults of one machine in a year`.

use super::percent;
use crate::diagnosis::{Cause, Conclusion, Fault, FaultTable, Figures};
use plimsoll_base::units::{format_number, format_seconds};

/// A year of 365 days, in seconds.
const YEAR: f64 = 31_536_000.0;
/// By how much more often faults may come than was assumed, to see what rests on it.
const MORE_OFTEN: f64 = 10.0;

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
        "{} if faults come {} times as often as assumed",
        availability(total * MORE_OFTEN),
        format_number(MORE_OFTEN)
    ));
    if let Some(rate) = table.rate {
        evidence.push(format!(
            "{}: the shortest outage that {}/s can tell",
            format_seconds(1.0 / rate),
            format_number(rate)
        ));
    }
    let once: Vec<&str> = (table.faults.iter())
        .filter(|fault| fault.trials < 2)
        .map(|fault| fault.name.as_str())
        .collect();
    if !once.is_empty() {
        evidence.push(format!(
            "tried once, so without an interval: {}",
            once.join(", ")
        ));
    }
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
    fault.outage * fault.servers * fault.impact * fault.per_year
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

/// Six digits behind the point: a second of a year is the sixth.
fn availability(seconds: f64) -> String {
    format!("{:.6} %", (1.0 - seconds / YEAR) * 100.0)
}
