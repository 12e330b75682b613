//! Conclusions that the trials of one fault allow, in sentences.

use crate::record::FaultOutages;
use crate::statistics::left_open_by;
use plimsoll_base::units::{format_number, format_seconds};

pub(super) fn sentences(found: &FaultOutages) -> Vec<String> {
    let n = found.trials;
    if n == 0 {
        return vec!["no trial of it counts".to_owned()];
    }
    let mut said = vec![of_the_longest(found)];
    said.extend(of_recovery(found));
    if found.without_outage == n {
        said.push(format!(
            "no outage in {}: at most 3 of {n}, {}, have one (95 % certain)",
            trials(n),
            percent((3.0 / f64::from(n)).min(1.0))
        ));
    }
    if found.torn > 0 {
        said.push(format!(
            "in {} of {}, failures were so few that chance alone may have left more than `gap` between them: they are counted as one outage, of which only the bursts are certain. A higher rate would tell",
            found.torn,
            trials(n)
        ));
    }
    let is_cut_short = found.failed_failovers.count > 0 || found.ended_by_heal > 0;
    let budget = found.budget_share.filter(|share| *share > 0.0);
    said.extend(budget.map(|share| {
        format!(
            "an outage{} uses {} of what 99.99 % leaves in 30 days, on average",
            if is_cut_short {
                " from which callers recover by themselves"
            } else {
                ""
            },
            percent(share)
        )
    }));
    let retried = found.retried_lost_s.zip(found.unretried_lost_s);
    said.extend(retried.map(|(again, once)| {
        format!(
            "a client that tries again would lose {} against {} without trying again, on average{}: an estimate from the same record, in which nobody did",
            format_seconds(again),
            format_seconds(once),
            if is_cut_short { " where callers recover by themselves" } else { "" },
        )
    }));
    if n < 6 {
        said.push(format!(
            "of {} the median has no interval: it takes six",
            trials(n)
        ));
    }
    said
}

/// How many cases the longest bounds. It bounds none where somebody would have waited longer than was seen.
fn of_the_longest(found: &FaultOutages) -> String {
    let outages = match found.trials {
        1 => "1 outage".to_owned(),
        n => format!("{n} outages"),
    };
    match found.outage.max_bounds_share {
        Some(share) => format!(
            "the longest of {outages} bounds {} of cases (95 % certain)",
            percent(share)
        ),
        None => {
            format!("the longest of {outages} bounds nothing: some would have lasted longer")
        }
    }
}

/// Whether callers recovered by themselves.
fn of_recovery(found: &FaultOutages) -> Vec<String> {
    let n = found.trials;
    let failed = &found.failed_failovers;
    let mut said = Vec::new();
    if failed.count > 0 {
        said.push(format!(
            "callers did not recover in time in {} of {}: {} to {} of cases (95 %); each counts as an outage for as long as it was watched",
            failed.count,
            trials(n),
            percent(failed.low),
            percent(failed.high)
        ));
    }
    if found.ended_by_heal > 0 {
        said.push(format!(
            "in {} of {} callers may have come back only because the fault was healed: how long it lasts otherwise is not known, as `for` was too short",
            found.ended_by_heal,
            trials(n)
        ));
    }
    if said.is_empty() {
        let all = match n {
            1 => "the one trial".to_owned(),
            n => format!("all of {}", trials(n)),
        };
        said.push(format!(
            "callers recovered in {all}, which leaves open that they do not in {} of cases (95 % certain)",
            percent(left_open_by(u64::from(n)))
        ));
    }
    said
}

fn trials(number: u32) -> String {
    match number {
        1 => "1 trial".to_owned(),
        n => format!("{n} trials"),
    }
}

/// A share as a percentage, to a tenth.
fn percent(share: f64) -> String {
    format!("{} %", format_number((share * 1_000.0).round() / 10.0))
}
