//! One load of which nothing failed: it says nothing of how much would be carried.

use super::KEPT;
use crate::analysis::diagnosis::{Cause, Conclusion, Failed, Figures, Observation};

/// Says where nobody looked for a limit.
pub(super) fn conclude(figures: &Figures) -> Vec<Conclusion> {
    let setups = figures.setups();
    setups
        .iter()
        .filter_map(|levels| of_setup(levels))
        .collect()
}

fn of_setup(levels: &[&Observation]) -> Option<Conclusion> {
    let load = |one: &Observation| (one.users, one.offered, one.think);
    let is_one = levels.iter().all(|one| load(one) == load(levels[0]));
    (is_one && levels.iter().all(|one| is_borne(one))).then(|| Conclusion {
        observations: levels.iter().map(|one| one.name.clone()).collect(),
        cause: Cause::NotFound,
        statement: "The limit was not sought: there is one load, and none of its requests failed."
            .to_owned(),
        evidence: Vec::new(),
        ruled_out: Vec::new(),
    })
}

/// Whether none failed, nobody was at an end, and, if a rate was offered, it was answered.
fn is_borne(one: &Observation) -> bool {
    let is_kept = one.offered.is_none() || one.kept().is_some_and(|kept| kept >= KEPT);
    one.failed == Some(Failed::None) && is_kept && one.pool.is_none() && !one.is_anybody_busy()
}
