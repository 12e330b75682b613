//! The table of faults: what was broken when, and what callers saw meanwhile, beside what they saw else.

use crate::record::{ArmSummary, CallerFigures, FaultRow, Summary};
use crate::render::table::Table;
use crate::render::words::{count, number, percent, time};

const NOTHING: &str = "–";

/// Faults with the figures of their callers; `None` where there are none.
pub(in crate::render) fn faults(summary: &Summary) -> Option<Table> {
    let arms = || {
        summary
            .arms
            .iter()
            .filter(|(_, arm)| arm.without_faults.is_some())
    };
    let several_arms = arms().count() > 1;
    arms().next()?;
    let mut table = Table::new(
        ["fault"]
            .into_iter()
            .chain(several_arms.then_some("arm"))
            .chain(["breaks", "proved after", "lasted", "healed after"])
            .chain(["good/s", "failed", "dropped", "p50", "p99", "max"]),
    );
    for (name, arm) in arms() {
        let named = several_arms.then_some(name.as_str());
        for fault in &arm.faults {
            table.rows.push(row(fault, named));
        }
        if let Some(without) = &arm.without_faults {
            let mut row = vec!["none".to_owned()];
            row.extend(named.map(str::to_owned));
            row.extend([NOTHING; 4].map(str::to_owned));
            row.extend(callers(without));
            table.rows.push(row);
        }
    }
    Some(table)
}

/// Proofs below the table: that each fault had its effect, and that nothing is left of it.
pub(in crate::render) fn proofs(summary: &Summary) -> Vec<String> {
    let several_arms = summary.arms.len() > 1;
    let of_arm = |(name, arm): (&String, &ArmSummary)| -> Vec<String> {
        let said = arm.faults.iter().map(|fault| {
            let whose = match (several_arms, fault.block) {
                (true, block) => format!("{name}, block {block}: "),
                (false, _) => String::new(),
            };
            let proved = match fault.proved {
                Some(_) => "proved",
                None => "NOT PROVED",
            };
            let healed = match fault.healed {
                Some(_) => "healed",
                None => "NOT HEALED",
            };
            format!(
                "{whose}{}: {proved}: {}; {healed}: {}",
                fault.name, fault.effect, fault.heal
            )
        });
        said.collect()
    };
    summary.arms.iter().flat_map(of_arm).collect()
}

fn row(fault: &FaultRow, arm: Option<&str>) -> Vec<String> {
    let target = fault.target.as_deref().unwrap_or_default();
    let proved = fault.proved.map(|at| at - fault.injected);
    let healed = fault.healed.map(|at| at - fault.heal_begun);
    let mut row = vec![fault.name.clone()];
    row.extend(arm.map(str::to_owned));
    row.extend([
        format!("{} {target}", fault.kind).trim_end().to_owned(),
        proved.map_or_else(|| "not proved".to_owned(), |s| time(Some(s))),
        time(Some(fault.heal_begun - fault.injected)),
        healed.map_or_else(|| "not healed".to_owned(), |s| time(Some(s))),
    ]);
    row.extend(callers(&fault.callers));
    row
}

fn callers(figures: &CallerFigures) -> [String; 6] {
    let times = &figures.response_time;
    let failed = match figures.failed_share {
        Some(share) if figures.failed > 0 => {
            format!("{} ({})", count(figures.failed), percent(share))
        }
        _ => count(figures.failed),
    };
    [
        number(figures.good_per_s),
        failed,
        count(figures.dropped),
        time(times.p50),
        time(times.p99),
        time(times.max),
    ]
}
