//! JUnit XML for continuous integration: a suite of thresholds, one of searches, and one of criteria of validity.
//!
//! A failure is a failure. A case without an answer, undecided or not to be judged, is an error: a failure would say that a limit was exceeded,
//! and a case that is skipped would leave the job green while the exit code is not 0. A criterion that does not hold is an error where the
//! run is invalid for it; where the run is not, it is skipped with its reason. Where nothing of all this fails and the verdict is yet not
//! that the run passed, the verdict is a case of its own: a job's result is that of the exit code. A suite's
//! time is that of the run, and a case's that of the load which it judges, so those of cases overlap. The shape is that of the schema that Jenkins' xUnit plugin publishes, which GitHub's and GitLab's readers take too.

use crate::capacity::judge::objective_words;
use crate::judgement::verdict::most_frequent;
use crate::record::metric::Metric;
use crate::record::{CapacityResult, Summary, ThresholdOutcome, ValidityRow, VerdictResult};
use crate::render::view::RunView;
use crate::render::words::count;
use indexmap::IndexMap;

/// One case: what became of it, if it did not pass.
struct Case {
    name: String,
    /// How long the load lasted that it judges.
    seconds: f64,
    problem: Option<(Problem, String)>,
}

/// Problem of a case that did not pass.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Problem {
    Failure,
    Error,
    Skipped,
}

/// Renders every suite that has a case.
#[must_use]
pub fn render(view: &RunView) -> String {
    let summary = &view.summary;
    let thresholds = (summary.thresholds.iter())
        .map(|outcome| threshold_case(summary, outcome))
        .collect();
    let mut suites = vec![
        ("thresholds", thresholds),
        ("capacity", capacity_cases(summary)),
        ("validity", validity_cases(summary)),
    ];
    let mut cases = suites.iter().flat_map(|(_, cases): &(_, Vec<Case>)| cases);
    let is_green = !cases.any(Case::is_red);
    suites.extend(is_green.then(|| ("verdict", verdict_case(view))));
    let suites: String = suites
        .iter()
        .filter(|(_, cases)| !cases.is_empty())
        .map(|(name, cases)| suite(view, name, cases))
        .collect();
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n{suites}</testsuites>\n")
}

fn suite(view: &RunView, name: &str, cases: &[Case]) -> String {
    let experiment = &view.summary.experiment;
    let counted = |wanted| {
        let problems = cases.iter().filter_map(|case| case.problem.as_ref());
        problems.filter(|(problem, _)| *problem == wanted).count()
    };
    let written: String = cases
        .iter()
        .map(|case| case.written(experiment, name))
        .collect();
    format!(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3}\" timestamp=\"{}\">\n{written}  </testsuite>\n",
        escape(&format!("{experiment}: {name}")),
        cases.len(),
        counted(Problem::Failure),
        counted(Problem::Error),
        counted(Problem::Skipped),
        view.manifest.seconds().unwrap_or_default(),
        // The schema's type has no offset.
        escape(
            view.manifest
                .started_at
                .get(..19)
                .unwrap_or(&view.manifest.started_at)
        ),
    )
}

/// The run's verdict, as an error if it did not pass; none where it did.
fn verdict_case(view: &RunView) -> Vec<Case> {
    let verdict = &view.summary.verdict;
    let case = Case {
        name: "something can be concluded".to_owned(),
        seconds: view.manifest.seconds().unwrap_or_default(),
        problem: Some((Problem::Error, verdict.reasons.join("; "))),
    };
    let has_passed = verdict.result == VerdictResult::Passed;
    (!has_passed).then_some(case).into_iter().collect()
}

/// One case for each criterion and arm: rows that look at the same thing in several places are one, as its worst.
fn validity_cases(summary: &Summary) -> Vec<Case> {
    let mut rows: IndexMap<String, &ValidityRow> = IndexMap::new();
    for row in &summary.validity {
        let name = format!("{}: criterion {}, {}", row.place(), row.criterion, row.name);
        let known = rows.entry(name).or_insert(row);
        if (row.ok, std::cmp::Reverse(row.effect)) < (known.ok, std::cmp::Reverse(known.effect)) {
            *known = row;
        }
    }
    let problem = match summary.verdict.result {
        VerdictResult::Invalid => Problem::Error,
        _ => Problem::Skipped,
    };
    rows.into_iter()
        .map(|(name, row)| Case {
            name,
            seconds: measured(summary, &row.arm, row.level.as_deref()),
            problem: (!row.ok).then(|| (problem, row.advice.clone())),
        })
        .collect()
}

/// For how long an arm, or one level of it, was measured.
fn measured(summary: &Summary, arm: &str, level: Option<&str>) -> f64 {
    let Some(arm) = summary.arms.get(arm) else {
        return 0.0;
    };
    let level = level.and_then(|name| arm.levels.iter().find(|level| level.name == name));
    level.map_or(arm.seconds, |level| level.seconds)
}

/// One case for each arm that was searched. Where thresholds decide, a capacity that was not found is skipped.
fn capacity_cases(summary: &Summary) -> Vec<Case> {
    let problem = if summary.thresholds.is_empty() {
        Problem::Error
    } else {
        Problem::Skipped
    };
    let searched = summary.arms.iter();
    searched
        .filter_map(|(name, arm)| {
            let found = arm.capacity.as_ref()?;
            let is_found = found.result == CapacityResult::Found;
            Some(Case {
                name: format!(
                    "{name}: capacity within {}",
                    objective_words(&found.objective)
                ),
                seconds: found.spent_s,
                problem: (!is_found).then(|| (problem, found.sentence.clone())),
            })
        })
        .collect()
}

fn threshold_case(summary: &Summary, outcome: &ThresholdOutcome) -> Case {
    let problem = match outcome.result {
        VerdictResult::Passed => None,
        VerdictResult::Failed => Some(Problem::Failure),
        VerdictResult::Invalid | VerdictResult::Unknown | VerdictResult::Inconclusive => {
            Some(Problem::Error)
        }
    };
    let metric = Metric::parse(&outcome.metric).ok();
    let level = metric.as_ref().and_then(Metric::level);
    let searched = (summary.arms.get(&outcome.arm))
        .and_then(|arm| arm.capacity.as_ref())
        .map(|found| found.spent_s);
    Case {
        seconds: searched.unwrap_or_else(|| measured(summary, &outcome.arm, level)),
        name: format!(
            "{}: {} {}",
            outcome.arm,
            outcome.metric,
            super::words::bound(outcome)
        ),
        problem: problem.map(|problem| (problem, why(summary, outcome))),
    }
}

/// Why a threshold did not pass, with why most of what failed did.
fn why(summary: &Summary, outcome: &ThresholdOutcome) -> String {
    let reason = &outcome.reason;
    let arm = summary.arms.get(&outcome.arm);
    match arm.and_then(|arm| Some((arm.failed, most_frequent(arm)?))) {
        Some((failed, why)) => {
            format!(
                "{reason}; {} exchanges failed, most of them: {why}",
                count(failed)
            )
        }
        None => reason.clone(),
    }
}

impl Case {
    /// Whether a job with it is not green.
    fn is_red(&self) -> bool {
        let problem = self.problem.as_ref().map(|(problem, _)| *problem);
        problem.is_some_and(|problem| problem != Problem::Skipped)
    }

    fn written(&self, experiment: &str, suite: &str) -> String {
        let class = escape(&format!("{experiment}.{suite}"));
        let start = format!(
            "    <testcase classname=\"{class}\" name=\"{}\" time=\"{:.3}\"",
            escape(&self.name),
            self.seconds
        );
        let Some((problem, message)) = &self.problem else {
            return format!("{start}/>\n");
        };
        let message = escape(message);
        match problem {
            Problem::Skipped => format!("{start}><skipped message=\"{message}\"/></testcase>\n"),
            Problem::Failure => {
                format!("{start}><failure type=\"{suite}\" message=\"{message}\"/></testcase>\n")
            }
            Problem::Error => {
                format!("{start}><error type=\"{suite}\" message=\"{message}\"/></testcase>\n")
            }
        }
    }
}

/// Text inside an XML attribute. Characters that XML 1.0 cannot hold are replaced.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_of_an_attribute() {
        let case = Case {
            name: "a\"><x>\u{1}&".to_owned(),
            seconds: 1.5,
            problem: None,
        };
        assert_eq!(
            case.written("e", "s"),
            "    <testcase classname=\"e.s\" name=\"a&quot;&gt;&lt;x&gt;\u{fffd}&amp;\" time=\"1.500\"/>\n"
        );
    }
}
