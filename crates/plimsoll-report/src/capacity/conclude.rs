//! From the trials of a search to its answer, in figures and in one sentence.

use super::judge::objective_words;
use super::search::{SAME, Settings, Taken, bounds, classes};
use super::{knee, scalability};
use crate::record::{
    Bottleneck, CapacityResult, CapacitySummary, CauseKind, Class, Confirmation, Manner, Objective,
    Overload, SearchEnd, Trial, TrialOutcome, TrialPurpose,
};
use plimsoll_base::units::{format_number, format_seconds};

/// In what share of simulated searches the interval holds the truth at least. The tests of `simulated` hold it, for the targets and
/// settings that `docs/truth.md` lists.
pub(super) const CONFIDENCE: f64 = 0.92;
/// The settings of those searches: the least measured time of a trial ...
const LEAST_TRIAL_S: f64 = 10.0;
/// ... the narrowest interval that was asked for ...
const LEAST_PRECISION: f64 = 0.05;
/// ... and the share of bad trial time that a rate may have.
const EXCEED_RATIO: f64 = 0.5;

/// A search that ended.
#[derive(Debug, Clone)]
pub struct Search<'a> {
    /// How it was made.
    pub settings: Settings,
    /// The objective of each trial.
    pub objective: Objective,
    /// Every trial, in order.
    pub trials: &'a [Trial],
    /// Why it ended.
    pub ended_by: SearchEnd,
    /// Behaviour above capacity.
    pub overload: Option<Overload>,
    /// Notes on the search from before.
    pub notes: Vec<String>,
    /// Of the run.
    pub seed: u64,
}

impl From<&Trial> for Taken {
    fn from(trial: &Trial) -> Self {
        Self {
            purpose: trial.purpose,
            rate_per_s: trial.rate_per_s,
            seconds: trial.planned_s,
            spent_s: trial.spent_s,
            outcome: trial.outcome,
        }
    }
}

/// The result of a search.
#[must_use]
pub fn conclude(search: Search<'_>) -> CapacitySummary {
    let Search {
        settings,
        objective,
        trials,
        ended_by,
        overload,
        mut notes,
        seed,
    } = search;
    let taken: Vec<Taken> = trials.iter().map(Taken::from).collect();
    let (lower, upper) = bounds(&settings, &taken);
    let width = lower
        .zip(upper)
        .map(|((lower, _), (upper, _))| upper / lower - 1.0);
    let confidence = match (lower, upper) {
        (Some(lower), Some(upper))
            if [lower, upper].iter().all(|end| end.1 != Class::Undecided) =>
        {
            confidence(&settings, trials, &taken)
                .map_err(|why| notes.push(why))
                .ok()
        }
        _ => None,
    };
    let knee = knee::knee(trials).map_err(|why| notes.push(why)).ok();
    let scalability = scalability::fit(trials, seed)
        .map_err(|why| notes.push(why))
        .ok();
    let confirmation = confirmation(trials, lower.map(|(rate, _)| rate), overload);
    let held = confirmation.as_ref().and_then(|found| found.held);
    let mut summary = CapacitySummary {
        result: result(ended_by, lower, upper, held),
        lower_per_s: lower.map(|(rate, _)| rate),
        upper_per_s: upper.map(|(rate, _)| rate),
        precision: settings.precision,
        width,
        confidence,
        ended_by,
        sentence: String::new(),
        budget_s: settings.budget_s,
        spent_s: taken.iter().map(|trial| trial.spent_s).sum(),
        exceed_ratio: settings.exceed_ratio,
        trials: trials.to_vec(),
        loads: classes(&settings, &taken),
        confirmation,
        intervention: None,
        knee,
        scalability,
        notes,
        objective,
    };
    summary.sentence = sentence(&summary, &settings);
    summary
}

/// A limit of the plan or of the generator is no capacity of the target: then it is at least the lower bound, and was not found. Connections
/// that somebody wrote are a question of its own: the capacity with these.
pub fn bound_by_plan(summary: &mut CapacitySummary, found: &Bottleneck, connections_stated: bool) {
    let is_enclosed = matches!(summary.result, CapacityResult::Found | CapacityResult::Wide);
    let Some(cause) = found.causes.first().filter(|_| is_enclosed) else {
        return;
    };
    match cause.kind {
        CauseKind::Connections if connections_stated => {
            let with_these = "capacity with these connections is";
            summary.sentence = summary.sentence.replacen("capacity is", with_these, 1);
        }
        CauseKind::Connections | CauseKind::ThinkTime | CauseKind::Ports | CauseKind::Generator => {
            let whose = match cause.kind {
                CauseKind::Generator => "the generator offers",
                _ => "the plan allows",
            };
            summary.result = CapacityResult::AtLeast;
            summary.confidence = None;
            summary.sentence = format!(
                "capacity is at least {}/s for {}, and was not found: {whose} no more than {}/s. {}",
                format_rate(summary.lower_per_s.unwrap_or(0.0)),
                objective_words(&summary.objective),
                format_rate(summary.upper_per_s.unwrap_or(0.0)),
                cause.statement,
            );
            if cause.kind == CauseKind::Connections
                && let Some(needed) = cause.evidence.last()
            {
                summary.sentence.push_str(&format!(" {needed}."));
            }
        }
        _ => {}
    }
}

/// How sure an interval is whose ends are decided, or why that cannot be said.
fn confidence(settings: &Settings, trials: &[Trial], taken: &[Taken]) -> Result<f64, String> {
    let is_as_simulated = settings.trial_s >= LEAST_TRIAL_S
        && settings.precision >= LEAST_PRECISION
        && (settings.exceed_ratio - EXCEED_RATIO).abs() < f64::EPSILON;
    if !is_as_simulated {
        return Err(format!(
            "the confidence of the interval is unknown: it was determined only for trials of {} or longer, a precision of {} % or wider and an exceed ratio of {EXCEED_RATIO}",
            format_seconds(LEAST_TRIAL_S),
            format_number(100.0 * LEAST_PRECISION)
        ));
    }
    let mut components = trials.iter().flat_map(|trial| trial.components.values());
    if components.any(|component| component.strain.throttled_share.unwrap_or(0.0) > 0.0) {
        return Err(
            "the confidence of the interval is unknown: a CPU quota was used up, and what a share of a processor achieves varies from second to second"
                .to_owned(),
        );
    }
    if let Some(how) = contradiction(taken) {
        return Err(format!(
            "the confidence of the interval is unknown: {how}. Longer trials tell rates apart better"
        ));
    }
    Ok(CONFIDENCE)
}

/// How some trial met the objective at a rate at which, or below which, another missed it, or could not be told to meet it: then times
/// differ from trial to trial by as much as they do from rate to rate, and what the search found may be chance.
pub(super) fn contradiction(taken: &[Taken]) -> Option<&'static str> {
    let rates = |outcome: TrialOutcome| {
        let counts = taken
            .iter()
            .filter(|trial| trial.purpose != TrialPurpose::Overload);
        counts
            .filter(move |trial| trial.outcome == outcome)
            .map(|trial| trial.rate_per_s)
    };
    let carried = rates(TrialOutcome::Good).fold(0.0, f64::max);
    if rates(TrialOutcome::Bad).any(|rate| rate <= carried) {
        return Some("a rate was carried although the same or a lower rate was not");
    }
    // Far below, a trial straddles because it holds few times.
    let mut near = rates(TrialOutcome::Straddling)
        .filter(|rate| carried / 2.0 < *rate && *rate < carried * (1.0 - SAME));
    near.next()
        .map(|_| "a trial at a rate below one that was carried could not be decided")
}

/// `held`: whether the lower bound held when it was confirmed.
fn result(
    ended_by: SearchEnd,
    lower: Option<(f64, Class)>,
    upper: Option<(f64, Class)>,
    held: Option<bool>,
) -> CapacityResult {
    match (lower, upper) {
        (Some(_), Some(_)) if ended_by == SearchEnd::Precision && held != Some(false) => {
            CapacityResult::Found
        }
        (Some(_), Some(_)) => CapacityResult::Wide,
        (Some(_), None) => CapacityResult::AtLeast,
        (None, Some(_)) if ended_by == SearchEnd::LowestRate => CapacityResult::Unmet,
        (None, _) => CapacityResult::Unknown,
    }
}

/// Observations at the lower bound and above it; `None` when neither was looked at.
fn confirmation(
    trials: &[Trial],
    lower: Option<f64>,
    overload: Option<Overload>,
) -> Option<Confirmation> {
    // One that failed below the lower bound speaks against that too.
    let at_lower = |trial: &&Trial| {
        let above = lower.map(|lower| trial.rate_per_s / lower - 1.0);
        trial.purpose == TrialPurpose::Confirmation
            && above.is_some_and(|above| {
                above.abs() <= 1e-6 || (above < 0.0 && trial.outcome == TrialOutcome::Bad)
            })
    };
    let trial = trials
        .iter()
        .filter(at_lower)
        .max_by_key(|trial| match trial.outcome {
            TrialOutcome::Good => 2,
            TrialOutcome::Bad => 1,
            TrialOutcome::Straddling | TrialOutcome::Void => 0,
        });
    if trial.is_none() && overload.is_none() {
        return None;
    }
    let held = |trial: &Trial| match trial.outcome {
        TrialOutcome::Good => Some(true),
        TrialOutcome::Bad => Some(false),
        TrialOutcome::Straddling | TrialOutcome::Void => None,
    };
    Some(Confirmation {
        trial: trial.map(|trial| trial.trial),
        held: trial.and_then(held),
        overload,
    })
}

fn sentence(summary: &CapacitySummary, settings: &Settings) -> String {
    let objective = objective_words(&summary.objective);
    let rate = |rate: Option<f64>| format!("{}/s", format_rate(rate.unwrap_or(0.0)));
    let why = ended(summary.ended_by, settings);
    match summary.result {
        CapacityResult::Found | CapacityResult::Wide => {
            let wide = format_number(100.0 * summary.width.unwrap_or(0.0));
            let is_narrow = summary
                .width
                .is_some_and(|width| width <= summary.precision);
            let too_wide = match summary.result {
                CapacityResult::Wide if summary.ended_by == SearchEnd::Precision => String::new(),
                CapacityResult::Wide if is_narrow => {
                    format!(", on fewer trials than it takes to be sure: {why}")
                }
                CapacityResult::Wide => format!(
                    ", wider than the {} % that were asked for: {why}",
                    format_number(100.0 * summary.precision)
                ),
                _ => String::new(),
            };
            format!(
                "capacity is between {} and {} for {objective} ({wide} % wide{too_wide}){}{}",
                rate(summary.lower_per_s),
                rate(summary.upper_per_s),
                held(summary.confirmation.as_ref()),
                failing(summary.confirmation.as_ref())
            )
        }
        CapacityResult::AtLeast => format!(
            "capacity is at least {} for {objective}, and was not found: {why}{}",
            rate(summary.lower_per_s),
            held(summary.confirmation.as_ref())
        ),
        CapacityResult::Unmet => {
            let lowest = summary.trials.iter().min_by(|a, b| {
                let key = |trial: &Trial| (trial.rate_per_s, trial.outcome != TrialOutcome::Bad);
                key(a)
                    .partial_cmp(&key(b))
                    .unwrap_or(std::cmp::Ordering::Equal)
            });
            let found = lowest.map_or(String::new(), |trial| format!(": {}", trial.reason));
            format!(
                "no rate meets {objective}: even {} does not{found}",
                rate(summary.upper_per_s)
            )
        }
        CapacityResult::Unknown => format!("nothing can be said of the capacity: {why}"),
    }
}

/// Why a search ended, after a colon.
fn ended(by: SearchEnd, settings: &Settings) -> String {
    match by {
        SearchEnd::Precision => "it is as precise as was asked for".to_owned(),
        SearchEnd::Budget => format!(
            "the budget of {} was used up",
            format_seconds(settings.budget_s)
        ),
        SearchEnd::HighestRate => "`to` allows no higher rate".to_owned(),
        SearchEnd::Generator => "the generator could not offer more and stay valid".to_owned(),
        SearchEnd::LowestRate => "the lowest rate that is tried fails".to_owned(),
        SearchEnd::Trials => "trials contradict each other without end".to_owned(),
        SearchEnd::Interrupted => "the run was told to stop".to_owned(),
        SearchEnd::Failure => "the run failed".to_owned(),
    }
}

fn held(confirmation: Option<&Confirmation>) -> &'static str {
    match confirmation.and_then(|confirmation| confirmation.held) {
        Some(true) => "; the lower bound held when it was confirmed",
        Some(false) => "; but the lower bound did not hold when it was confirmed",
        None => "",
    }
}

/// How the target failed above its capacity.
fn failing(confirmation: Option<&Confirmation>) -> String {
    let Some(overload) = confirmation.and_then(|confirmation| confirmation.overload.as_ref())
    else {
        return String::new();
    };
    let recovery = match overload.recovered_after_s {
        Some(seconds) if seconds <= 0.0 => "and recovers at once".to_owned(),
        Some(seconds) => format!("and recovers in {}", format_seconds(seconds)),
        None => format!(
            "and did not recover within {}",
            format_seconds(overload.watched_s)
        ),
    };
    let manner = match overload.bearing.manner {
        Manner::Sustains => {
            return format!(
                "; at {}/s it keeps up, so that was no overload",
                format_rate(overload.rate_per_s)
            );
        }
        other => other.name(),
    };
    format!(
        "; at {}/s it {manner} {recovery}",
        format_rate(overload.rate_per_s)
    )
}

/// A rate with as many digits as it was offered with.
#[must_use]
pub fn format_rate(rate: f64) -> String {
    if rate >= 1_000.0 || rate == rate.round() {
        format_number(rate)
    } else if rate >= 100.0 {
        format!("{rate:.1}")
    } else {
        format!("{rate:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacity::search::tests::settings;
    use crate::record::{BottleneckConclusion, Cause};

    /// A search that ended with two bounds.
    fn found() -> CapacitySummary {
        let text = include_str!("../../examples/summary-capacity.json");
        let summary: serde_json::Value = serde_json::from_str(text).unwrap();
        let found: CapacitySummary =
            serde_json::from_value(summary["arms"]["direct"]["capacity"].clone()).unwrap();
        assert_eq!(found.result, CapacityResult::Found);
        found
    }

    /// The confirmation, made again to no effect, does not hide that the first did not hold.
    #[test]
    fn a_lower_bound_that_did_not_hold_is_no_finding() {
        let mut trials = found().trials;
        let at = trials
            .iter()
            .position(|trial| trial.purpose == TrialPurpose::Confirmation)
            .unwrap();
        trials[at].outcome = TrialOutcome::Bad;
        let mut again = trials[at].clone();
        again.outcome = TrialOutcome::Void;
        trials.insert(at + 1, again);
        let summary = conclude(Search {
            settings: settings(),
            objective: found().objective,
            trials: &trials,
            ended_by: SearchEnd::Precision,
            overload: None,
            notes: Vec::new(),
            seed: 1,
        });
        assert_eq!(summary.result, CapacityResult::Wide);
        let said = "but the lower bound did not hold when it was confirmed";
        assert!(summary.sentence.contains(said), "{}", summary.sentence);
        assert!(
            !summary.sentence.contains("as precise"),
            "{}",
            summary.sentence
        );
    }

    fn bounded_by(kind: CauseKind, connections_stated: bool) -> CapacitySummary {
        let cause = Cause {
            kind,
            component: None,
            statement: "All 50 connections of the plan wait for answers.".to_owned(),
            evidence: vec!["900/s would need about 90 of them".to_owned()],
            predicted_per_s: None,
        };
        let bottleneck = Bottleneck {
            conclusion: BottleneckConclusion::Found,
            statement: String::new(),
            causes: vec![cause],
            ruled_out: Vec::new(),
            unseen: Vec::new(),
        };
        let mut summary = found();
        bound_by_plan(&mut summary, &bottleneck, connections_stated);
        summary
    }

    #[test]
    fn what_the_plan_bounds_is_no_capacity_of_the_target() {
        for (kind, whose) in [
            (CauseKind::Connections, "the plan allows"),
            (CauseKind::ThinkTime, "the plan allows"),
            (CauseKind::Ports, "the plan allows"),
            (CauseKind::Generator, "the generator offers"),
        ] {
            let summary = bounded_by(kind, false);
            assert_eq!(summary.result, CapacityResult::AtLeast, "{kind:?}");
            let starts = "capacity is at least 392.7/s for p99 ≤ 100 ms, at most 0.1 % missed, and was not found: ";
            assert!(
                summary
                    .sentence
                    .starts_with(&format!("{starts}{whose} no more than")),
                "{}",
                summary.sentence
            );
        }
        let needed = bounded_by(CauseKind::Connections, false).sentence;
        assert!(
            needed.ends_with("900/s would need about 90 of them."),
            "{needed}"
        );
    }

    #[test]
    fn with_connections_that_somebody_wrote_it_is_a_finding() {
        let summary = bounded_by(CauseKind::Connections, true);
        assert_eq!(summary.result, CapacityResult::Found);
        let sentence = &summary.sentence;
        assert!(
            sentence.starts_with("capacity with these connections is between"),
            "{sentence}"
        );
        assert_eq!(bounded_by(CauseKind::Processor, false), found());
    }
}
