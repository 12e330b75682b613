//! One load that was answered whole: it says that this much is carried, and nothing of how much would be.

use crate::diagnosis::{Cause, Conclusion, Failed, Figures, Observation};

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
    let is_answered = levels.iter().all(|one| {
        one.failed == Some(Failed::None) && one.pool.is_none() && !one.is_anybody_busy()
    });
    (is_one && is_answered).then(|| Conclusion {
        observations: levels.iter().map(|one| one.name.clone()).collect(),
        cause: Cause::NotFound,
        statement: "The limit was not sought: one load, and all of it was answered.".to_owned(),
        evidence: Vec::new(),
        ruled_out: Vec::new(),
    })
}
