//! Sentences before a plan is carried out: its ceilings, what may go wrong on this host, and that it cannot reach what it states.

use crate::commands::doctor;
use crate::exit::Failure;
use crate::out;
use plimsoll_experiment::Experiment;
use plimsoll_lab::doctor::Stored;
use plimsoll_lab::preflight::{HostFacts, Outlook, Warning, look};

/// Treatment of a plan that cannot reach a rate that it states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreachable {
    /// It is refused.
    Refused,
    /// It is carried out all the same, with a warning.
    Forced,
}

/// Looks at `experiment` before it runs on this host, and says what there is to say of it.
pub fn outlooks(experiment: &Experiment) -> Vec<Outlook> {
    let calibrated = match doctor::stored() {
        Stored::Absent => None,
        Stored::Ignored(why) => {
            out::note(&format!("note: the stored ceiling is ignored: {why}"));
            None
        }
        Stored::Usable(ceiling) => Some(ceiling),
    };
    look(experiment, &HostFacts::read(calibrated))
}

/// Says what bounds each arm; gives the warnings to record with the run.
///
/// # Errors
/// Rates that the plan states and cannot reach, if that is refused.
pub fn conclude(outlooks: &[Outlook], unreachable: Unreachable) -> Result<Vec<Warning>, Failure> {
    for line in ceilings(outlooks) {
        out::note(&format!("plan: {line}"));
    }
    let mut warnings: Vec<Warning> = Vec::new();
    let refusals = outlooks.iter().flat_map(|outlook| &outlook.refusals);
    match unreachable {
        Unreachable::Refused => refuse(outlooks)?,
        Unreachable::Forced => warnings.extend(refusals.cloned()),
    }
    warnings.extend(
        outlooks
            .iter()
            .flat_map(|outlook| &outlook.warnings)
            .cloned(),
    );
    for warning in &warnings {
        out::note(&format!("warning: {warning}"));
    }
    Ok(warnings)
}

/// Ceilings of each arm, a line each; arms with equal ones share it.
pub fn ceilings(outlooks: &[Outlook]) -> Vec<String> {
    let mut lines: Vec<(&str, Vec<&str>)> = Vec::new();
    for outlook in outlooks {
        for said in &outlook.said {
            match lines.iter_mut().find(|(sentence, _)| sentence == said) {
                Some((_, arms)) => arms.push(&outlook.arm),
                None => lines.push((said, vec![&outlook.arm])),
            }
        }
    }
    let named = lines.into_iter().map(|(sentence, arms)| {
        let arms: Vec<String> = arms.iter().map(|arm| format!("`{arm}`")).collect();
        let word = if arms.len() == 1 { "arm" } else { "arms" };
        format!("{word} {}: {sentence}", arms.join(", "))
    });
    named.collect()
}

/// Refuses a plan that cannot reach what it states.
fn refuse(outlooks: &[Outlook]) -> Result<(), Failure> {
    let refusals = outlooks.iter().flat_map(|outlook| &outlook.refusals);
    let refusals: Vec<String> = refusals.map(Warning::to_string).collect();
    if refusals.is_empty() {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "{}\nto run it anyway, add `--force` to `plimsoll run` or `plimsoll load`",
        refusals.join("\n")
    )))
}
