//! A second search of an arm, with less of what gave way first: whether the capacity moves with it.

use super::super::{Ending, Session};
use super::ArmSearch;
use crate::error::LabError;
use crate::progress::Progress;
use plimsoll_experiment::{Arm, Capacity};
use plimsoll_report::capacity::intervene;
use plimsoll_report::record::{EventKind, TrialRow};
use plimsoll_report::summarise::Searched;

/// Carries it out and adds what it found to the first search. `earlier` are trials of it that an earlier run made.
///
/// # Errors
/// [`LabError`] as soon as something makes going on pointless.
pub(super) async fn run(
    session: &mut Session<'_, '_>,
    (arm, capacity): (&Arm, &Capacity),
    found: &mut Searched,
    earlier: Vec<TrialRow>,
) -> Result<Ending, LabError> {
    let plan = match intervene::plan(&found.capacity, found.bottleneck.as_ref()) {
        Ok(plan) => plan,
        Err(why) => {
            session.recorder.event(EventKind::Warning, &why)?;
            session.recorder.tell(Progress::Note(why.clone()));
            found.capacity.notes.push(why);
            return Ok(Ending::Complete);
        }
    };
    let name = plan.component.clone();
    if let Err(error) = session.topology.hold(&name, Some(plan.held_to_cores)) {
        let why = format!("the cause is not confirmed: {error}");
        found.capacity.notes.push(why);
        return Ok(Ending::Complete);
    }
    let said = format!(
        "confirming: `{name}` is held to {:.2} cores",
        plan.held_to_cores
    );
    session.recorder.event(EventKind::Warning, &said)?;
    session.recorder.tell(Progress::Note(said));
    let settings = plan.settings(&capacity.settings);
    let mut search = ArmSearch::new(arm, &capacity.objective, settings);
    search.before = found.capacity.trials.len();
    search.held_to_cores = Some(plan.held_to_cores);
    // Trials that follow other ones were made with other bounds in view, and with another share.
    let follows = |row: &TrialRow| row.held_to_cores == Some(plan.held_to_cores);
    let begins = |row: &TrialRow| row.trial.trial as usize == search.before + 1;
    if earlier.first().is_some_and(begins) && earlier.iter().all(follows) {
        search.take_over(session, earlier)?;
    }
    let ending = search.carry_out(session).await;
    let let_go = session.topology.hold(&name, None);
    let intervention = plan.conclude(&settings, search.trials);
    session
        .recorder
        .tell(Progress::Note(intervention.sentence.clone()));
    let causes = found.bottleneck.iter_mut();
    if let Some(cause) = causes.flat_map(|found| found.causes.first_mut()).next() {
        cause.evidence.push(intervention.sentence.clone());
    }
    found.capacity.intervention = Some(intervention);
    // Where the component died, that is what is told, and not that nothing can be given back to it.
    let (ending, _) = ending?;
    let_go.map(|()| ending)
}
