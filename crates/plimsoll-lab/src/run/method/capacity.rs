//! `capacity`: a search of one arm after the other. What comes next is the report's decision; here it is carried out.

mod budget;
mod intervention;
mod overload;

use super::{Block, Ending, Measured, Session};
use crate::error::LabError;
use crate::host;
use crate::load::Keeping;
use crate::progress::Progress;
use plimsoll_base::units::{Rate, format_seconds};
use plimsoll_experiment::{Arm, Capacity, Point};
use plimsoll_report::bearing::fails_late;
use plimsoll_report::bottleneck;
use plimsoll_report::capacity::conclude::format_rate;
use plimsoll_report::capacity::{
    self, Next, Planned, Search, Settings, Taken, affords, conclude, judge, search,
};
use plimsoll_report::record::{
    ArmData, EventKind, Manner, Objective, Overload, SearchEnd, Trial, TrialOutcome, TrialPurpose,
    TrialRow,
};
use plimsoll_report::summarise::{Searched, component_summaries, figures};
use std::collections::BTreeMap;
use std::time::Duration;

pub(super) async fn run(
    session: &mut Session<'_, '_>,
    capacity: &Capacity,
) -> Result<Ending, LabError> {
    let sentence = affords(&capacity.settings).sentence;
    session.recorder.remark(&sentence)?;
    let experiment = session.experiment;
    for arm in &experiment.arms {
        // Each arm finds our components as new.
        session.stop_own().await?;
        if session.start_missing().await? == Ending::Interrupted {
            return Ok(Ending::Interrupted);
        }
        let rows = session
            .earlier
            .searches
            .remove(&arm.name)
            .unwrap_or_default();
        let (held, free): (Vec<TrialRow>, Vec<TrialRow>) = rows
            .into_iter()
            .partition(|row| row.held_to_cores.is_some());
        let mut run = ArmSearch::new(arm, &capacity.objective, capacity.settings);
        run.said.push(sentence.clone());
        run.take_over(session, free)?;
        let ending = run.carry_out(session).await;
        let ended_by = match &ending {
            Ok((Ending::Complete, end)) => *end,
            Ok((Ending::Interrupted | Ending::Aborted, _)) => SearchEnd::Interrupted,
            Err(_) => SearchEnd::Failure,
        };
        run.said.extend(run.not_kept(session));
        let mut found = run.conclude(ended_by, session);
        let answer = format!("{}: {}", arm.name, found.capacity.sentence);
        session.recorder.tell(Progress::Note(answer));
        let ending = match ending {
            Ok((Ending::Complete, _)) if capacity.confirm => {
                intervention::run(session, (arm, capacity), &mut found, held).await
            }
            other => other.map(|(ending, _)| ending),
        };
        session.searches.insert(arm.name.clone(), found);
        let ending = ending?;
        if ending != Ending::Complete {
            return Ok(ending);
        }
    }
    Ok(Ending::Complete)
}

/// The search of one arm under way.
struct ArmSearch<'a> {
    /// With as many connections as it needs, where nobody wrote how many.
    arm: Arm,
    objective: &'a Objective,
    settings: Settings,
    /// Cores that a component is held to, in the search that confirms a cause.
    held_to_cores: Option<f64>,
    /// Trials of the arm that are not of this search: numbers go on from there.
    before: usize,
    trials: Vec<Trial>,
    overload: Option<Overload>,
    /// Loads of the trials of this run, by number.
    seen: BTreeMap<u32, bottleneck::Point>,
    said: Vec<String>,
}

impl<'a> ArmSearch<'a> {
    fn new(arm: &Arm, objective: &'a Objective, settings: Settings) -> Self {
        Self {
            arm: arm.with_connections_up_to(host::most_connections()),
            objective,
            settings,
            held_to_cores: None,
            before: 0,
            trials: Vec::new(),
            overload: None,
            seen: BTreeMap::new(),
            said: Vec::new(),
        }
    }

    /// Begins with trials of the run that this one goes on from.
    fn take_over(
        &mut self,
        session: &mut Session<'_, '_>,
        rows: Vec<TrialRow>,
    ) -> Result<(), LabError> {
        for row in rows {
            session.recorder.trial(&row)?;
            self.overload = row.overload.or(self.overload.take());
            self.trials.push(row.trial);
        }
        if !self.trials.is_empty() {
            let taken = format!(
                "goes on from {} trials of an earlier run",
                self.trials.len()
            );
            session
                .recorder
                .event(EventKind::Warning, &format!("{}: {taken}", self.arm.name))?;
            self.said.push(taken);
        }
        Ok(())
    }

    async fn carry_out(
        &mut self,
        session: &mut Session<'_, '_>,
    ) -> Result<(Ending, SearchEnd), LabError> {
        loop {
            let taken: Vec<Taken> = self.trials.iter().map(Taken::from).collect();
            let planned = match capacity::next(&self.settings, &taken) {
                Next::Trial(planned) => planned,
                Next::End(end) => return Ok((Ending::Complete, end)),
            };
            let ending = self.trial(session, planned).await?;
            if ending != Ending::Complete {
                return Ok((ending, SearchEnd::Interrupted));
            }
        }
    }

    /// Carries out one trial. Only whole ones are kept.
    async fn trial(
        &mut self,
        session: &mut Session<'_, '_>,
        planned: Planned,
    ) -> Result<Ending, LabError> {
        let number = u32::try_from(self.before + self.trials.len() + 1).unwrap_or(u32::MAX);
        let began = session.recorder.now();
        let label = label(number, planned);
        let ahead = budget::left(&self.settings, &self.trials);
        let block = Block {
            number,
            label: &label,
            ahead: &ahead,
            keeping: match planned.purpose {
                TrialPurpose::Overload => Keeping::ApartWithSeconds,
                TrialPurpose::Search | TrialPurpose::Confirmation => Keeping::Apart,
            },
        };
        let arm = self.held(planned)?;
        let measured = session.measure(&arm, block).await?;
        match measured.ending {
            Ok(Ending::Complete) => {}
            Ok(other) => return Ok(other),
            Err(error) => return Err(during(error, planned)),
        }
        let spent_s = session.recorder.now() - began;
        let trial = self.judged(number, planned, &measured, spent_s);
        let said = format!("  {}: {}", trial.outcome.name(), trial.reason);
        session.recorder.tell(Progress::Note(said));
        let row = TrialRow {
            arm: self.arm.name.clone(),
            overload: self
                .overload
                .clone()
                .filter(|overload| overload.trial == number),
            held_to_cores: self.held_to_cores,
            trial,
        };
        session.recorder.trial(&row)?;
        self.trials.push(row.trial);
        if self.held_to_cores.is_none() {
            let point = bottleneck::Point::of(&measured.data);
            self.seen.insert(number, point);
            self.keep(session, measured.data, measured.notes);
        }
        Ok(Ending::Complete)
    }

    /// The arm with the load of a trial.
    fn held(&self, planned: Planned) -> Result<Arm, LabError> {
        let rate = Rate::per_second(planned.rate_per_s)
            .ok_or_else(|| LabError::Internal(format!("a trial of {}/s", planned.rate_per_s)))?;
        let measured = Duration::from_secs_f64(planned.seconds);
        Ok(match planned.purpose {
            TrialPurpose::Search | TrialPurpose::Confirmation => {
                self.arm.at(Point::Rate(rate), measured)
            }
            TrialPurpose::Overload => {
                let after = self.recovery_rate(planned);
                self.arm
                    .at_two_rates((planned.rate_per_s, measured), (after, measured))
            }
        })
    }

    /// Rate offered after an overload: a share of the lower bound, well within capacity.
    fn recovery_rate(&self, planned: Planned) -> f64 {
        let taken: Vec<Taken> = self.trials.iter().map(Taken::from).collect();
        let (lower, _) = search::bounds(&self.settings, &taken);
        let lower = lower.map_or(planned.rate_per_s, |(rate, _)| rate);
        search::round(overload::RECOVERY * lower)
    }

    fn judged(
        &mut self,
        number: u32,
        planned: Planned,
        measured: &Measured,
        spent_s: f64,
    ) -> Trial {
        let data = &measured.data;
        let own = figures(data);
        let below = self
            .trials
            .iter()
            .filter(|trial| trial.rate_per_s < planned.rate_per_s);
        let best = below
            .filter(|trial| trial.outcome == TrialOutcome::Good)
            .filter_map(|trial| trial.good_per_s)
            .reduce(f64::max);
        let objective = self.objective;
        let mut judged = judge(data, &own, objective, best, planned.decide);
        if planned.purpose == TrialPurpose::Overload {
            let seen = overload::OverloadFacts {
                trial: number,
                rate_per_s: planned.rate_per_s,
                recovery_rate_per_s: self.recovery_rate(planned),
                overload_s: self.arm.settings.warmup.as_secs_f64() + planned.seconds,
                best_per_s: best,
                fails_late: fails_late(&own.outcomes, own.failed),
            };
            let overload = overload::observe(&measured.seconds, &seen, objective);
            judged.bearing = overload.bearing.clone();
            judged.reason = overload.bearing.sentence.clone();
            judged.outcome = match overload.bearing.manner {
                Manner::Sustains => TrialOutcome::Good,
                _ => TrialOutcome::Bad,
            };
            self.overload = Some(overload);
        }
        Trial {
            trial: number,
            purpose: planned.purpose,
            rate_per_s: planned.rate_per_s,
            planned_s: planned.seconds,
            seconds: data.seconds,
            spent_s,
            outcome: judged.outcome,
            reason: judged.reason,
            bearing: judged.bearing,
            achieved_per_s: own.achieved_per_s,
            good_per_s: own.good_per_s,
            intended: data.intended,
            dropped: data.dropped,
            failed: own.failed,
            failed_share: own.failed_share,
            in_flight_mean: (data.seconds > 0.0).then(|| data.in_flight_s / data.seconds),
            found: judged.found,
            response_time: own.times.response_time,
            components: component_summaries(data),
        }
    }

    /// Keeps the data of the trial that stands for the arm: the confirmation, or else the one of the highest rate that was good, or else
    /// that of the lowest.
    fn keep(&self, session: &mut Session<'_, '_>, data: ArmData, notes: Vec<String>) {
        let Some(newest) = self.trials.last() else {
            return;
        };
        if newest.purpose == TrialPurpose::Overload {
            return;
        }
        let kept = session
            .arms
            .iter_mut()
            .find(|arm| arm.name == self.arm.name);
        let Some(kept) = kept else { return };
        let known = kept.blocks.keys().next().copied();
        let known = known.and_then(|number| self.trials.iter().find(|trial| trial.trial == number));
        if known.is_none_or(|known| standing(newest) >= standing(known)) {
            kept.blocks.clear();
            let number = newest.trial;
            session.keep(number, data, notes);
        }
    }

    /// Note where the trial that stands for the arm was made by the run that this one goes on from: its data stayed there.
    fn not_kept(&self, session: &Session<'_, '_>) -> Option<String> {
        let mut arms = session.arms.iter();
        let own = arms.find(|arm| arm.name == self.arm.name)?;
        not_kept(&self.trials, own.blocks.keys().next().copied())
    }

    fn conclude(self, ended_by: SearchEnd, session: &Session<'_, '_>) -> Searched {
        let mut capacity = conclude(Search {
            settings: self.settings,
            objective: self.objective.clone(),
            trials: &self.trials,
            ended_by,
            overload: self.overload,
            notes: self.said,
            seed: session.seed,
        });
        let bottleneck = bottleneck::of_search(&capacity, &self.seen, session.cpus);
        if bottleneck.is_none() && !self.trials.is_empty() {
            let note = "what gives way first is not said: the trial that shows it was made by an earlier run";
            capacity.notes.push(note.to_owned());
        }
        if let Some(bottleneck) = &bottleneck {
            let stated = self.arm.settings.connections_stated;
            capacity::bound_by_plan(&mut capacity, bottleneck, stated);
        }
        Searched {
            capacity,
            bottleneck,
        }
    }
}

/// How well a trial stands for its arm: the confirmation, then what is good by its rate, then what is not by how low it is.
fn standing(trial: &Trial) -> (bool, bool, f64) {
    let good = trial.outcome == TrialOutcome::Good;
    let confirms = good && trial.purpose == TrialPurpose::Confirmation;
    let height = if good {
        trial.rate_per_s
    } else {
        -trial.rate_per_s
    };
    (confirms, good, height)
}

/// `kept`: the number of the trial whose data the arm has.
fn not_kept(trials: &[Trial], kept: Option<u32>) -> Option<String> {
    let mut best: Option<&Trial> = None;
    for trial in trials {
        let is_load = trial.purpose != TrialPurpose::Overload;
        if is_load && best.is_none_or(|best| standing(trial) >= standing(best)) {
            best = Some(trial);
        }
    }
    let best = best.filter(|best| kept != Some(best.trial))?.trial;
    let instead = match kept {
        Some(kept) => format!("those of trial {kept} stand here"),
        None => "this run has none".to_owned(),
    };
    Some(format!(
        "the arm's own figures would be those of trial {best}, which the earlier run made and has: {instead}"
    ))
}

/// A trial's label for people.
fn label(number: u32, planned: Planned) -> String {
    let what = match planned.purpose {
        TrialPurpose::Search => "trial",
        TrialPurpose::Confirmation => "confirmation, trial",
        TrialPurpose::Overload => "overload, trial",
    };
    format!(
        "{what} {number}: {}/s for {}",
        format_rate(planned.rate_per_s),
        format_seconds(planned.seconds)
    )
}

/// The error of a death, with the rate at which it happened.
fn during(error: LabError, planned: Planned) -> LabError {
    match error {
        LabError::Died {
            component,
            reason,
            log,
        } => LabError::Died {
            component,
            reason: format!(
                "{reason}, in a trial at {}/s, which ends the search",
                format_rate(planned.rate_per_s)
            ),
            log,
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The trials of a whole search: the last but one confirms, the last exceeds.
    fn searched() -> Vec<Trial> {
        let text = include_str!("../../../../plimsoll-report/examples/summary-capacity.json");
        let summary: serde_json::Value = serde_json::from_str(text).unwrap();
        let trials = summary["arms"]["direct"]["capacity"]["trials"].clone();
        serde_json::from_value(trials).unwrap()
    }

    #[test]
    fn figures_that_stayed_in_the_earlier_run_are_said_to_be_there() {
        let trials = searched();
        let [.., confirmation, overload] = trials.as_slice() else {
            panic!("{} trials", trials.len());
        };
        assert_eq!(overload.purpose, TrialPurpose::Overload);
        let number = confirmation.trial;
        assert_eq!(not_kept(&trials, Some(number)), None);
        let said = not_kept(&trials, None).unwrap();
        assert!(said.contains(&format!("trial {number}")), "{said}");
        assert!(said.ends_with("this run has none"), "{said}");
        let said = not_kept(&trials, Some(1)).unwrap();
        assert!(said.ends_with("those of trial 1 stand here"), "{said}");
        assert_eq!(not_kept(&[], None), None);
    }
}
