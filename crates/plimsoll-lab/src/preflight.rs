//! Before anything is sent: what the plan itself can reach at most, held against what it states. Pure but for [`HostFacts::read`].
//!
//! ```text
//! experiment, facts of the host --ceilings, one kind per file--> what bounds each arm --rates that it states--> findings
//! ```
//!
//! A ceiling that follows from the plan alone refuses a plan that states more. One that depends on this host, or on what the target will
//! do, is a warning and nothing more: what the generator did is judged after the run, from what was measured.

mod calibrated;
mod ceiling;
mod connections;
mod descriptors;
mod host;
mod iteration;
mod ports;
mod schedule;
mod stated;
mod think_time;

pub use ceiling::{Ceiling, Of, Source};
pub use host::HostFacts;

use iteration::Iteration;
use plimsoll_experiment::{Arm, Experiment};
use plimsoll_load::plan::{ConnectionPolicy, Load, Plan};
use plimsoll_report::record::{PlanCeiling, PlanFacts};
use stated::Standing;
use std::fmt;

/// Outlook of one arm before it runs.
#[derive(Debug, Clone)]
pub struct Outlook {
    /// The arm.
    pub arm: String,
    /// Its ceilings, the plan's own first.
    pub ceilings: Vec<Ceiling>,
    /// Sentences to be read after the arm's name: its ceilings, and what answers may take where nothing bounds it.
    pub said: Vec<String>,
    /// Stated rates that it cannot reach.
    pub refusals: Vec<Warning>,
    /// Warnings about this host.
    pub warnings: Vec<Warning>,
}

/// A warning about one arm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The arm.
    pub arm: String,
    /// The sentence, to be read after the arm's name.
    pub sentence: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "arm `{}` {}", self.arm, self.sentence)
    }
}

/// Outlook of each arm before anything is sent.
#[must_use]
pub fn look(experiment: &Experiment, host: &HostFacts) -> Vec<Outlook> {
    let arms = experiment.arms.iter();
    arms.map(|arm| Subject::new(experiment, arm).look(host))
        .collect()
}

/// Limits of an arm's plan, by which its bottleneck is judged in the end.
#[must_use]
pub fn plan_facts(experiment: &Experiment, arm: &Arm) -> PlanFacts {
    let subject = Subject::new(experiment, arm);
    let plan = &subject.plan;
    let users: f64 = (plan.scenarios.iter())
        .map(|scenario| f64::from(scenario.load.users()))
        .sum();
    let at_once = match plan.connections.policy {
        ConnectionPolicy::Shared(shared) => users.min(f64::from(shared)),
        _ => users,
    };
    let ceilings: Option<Vec<Ceiling>> = (subject.iterations.iter().enumerate())
        .map(|(index, iteration)| match plan.scenarios[index].load {
            Load::Closed { .. } => think_time::ceiling(plan, index, iteration),
            Load::Open { .. } => connections::ceiling(plan, index, iteration),
        })
        .collect();
    PlanFacts {
        at_once: Some(at_once),
        waiting: ceilings.map(|ceilings| PlanCeiling {
            per_s: ceilings.iter().map(|ceiling| ceiling.value).sum(),
            sentence: (ceilings.iter())
                .map(|ceiling| format!("{} ({})", ceiling.sentence, ceiling.formula))
                .collect::<Vec<_>>()
                .join("; "),
        }),
    }
}

/// An arm with its plan, and what an iteration of each scenario holds.
struct Subject<'a> {
    experiment: &'a Experiment,
    arm: &'a Arm,
    plan: Plan,
    iterations: Vec<Iteration>,
}

impl<'a> Subject<'a> {
    fn new(experiment: &'a Experiment, arm: &'a Arm) -> Self {
        let plan = arm.outline();
        let iterations = 0..plan.scenarios.len();
        let iterations = iterations.map(|scenario| Iteration::of(&plan, scenario));
        Self {
            experiment,
            arm,
            iterations: iterations.collect(),
            plan,
        }
    }

    fn look(&self, host: &HostFacts) -> Outlook {
        let mut ceilings = Vec::new();
        let mut said = Vec::new();
        for (index, scenario) in self.plan.scenarios.iter().enumerate() {
            let iteration = &self.iterations[index];
            let of_plan = match &scenario.load {
                Load::Closed { .. } => think_time::ceiling(&self.plan, index, iteration),
                Load::Open { .. } => connections::ceiling(&self.plan, index, iteration),
            };
            said.extend(
                of_plan
                    .as_ref()
                    .map(|ceiling| self.named(index, &ceiling.to_string())),
            );
            let affords = connections::affords(&self.plan, index, iteration);
            said.extend(affords.map(|sentence| self.named(index, &sentence)));
            ceilings.extend(of_plan);
            ceilings.extend(schedule::ceiling(&self.plan, index));
        }
        let mut of_host = Vec::new();
        of_host.extend(ports::ceiling(self, host));
        of_host.extend(descriptors::ceiling(self, host));
        of_host.extend(calibrated::ceiling(self, host));
        let warnings = of_host.iter().filter_map(|ceiling| ceiling.warning.clone());
        let mut warnings: Vec<Warning> = warnings.map(|sentence| self.warning(sentence)).collect();
        said.extend(
            of_host
                .iter()
                .filter(|it| it.warning.is_none())
                .map(Ceiling::to_string),
        );
        ceilings.extend(of_host);
        let mut refusals = Vec::new();
        for stated in stated::all(self) {
            match stated.standing(self, &ceilings) {
                Some(Standing::Beyond(sentence)) => refusals.push(self.warning(sentence)),
                Some(Standing::Doubtful(sentence)) => warnings.push(self.warning(sentence)),
                None => {}
            }
        }
        Outlook {
            arm: self.arm.name.clone(),
            refusals,
            ceilings,
            said,
            warnings,
        }
    }

    fn warning(&self, sentence: String) -> Warning {
        Warning {
            arm: self.arm.name.clone(),
            sentence,
        }
    }

    /// A sentence about a scenario, with its name where there are several.
    fn named(&self, scenario: usize, sentence: &str) -> String {
        match &self.plan.scenarios[..] {
            [_] => sentence.to_owned(),
            all => format!("scenario `{}`: {sentence}", all[scenario].name),
        }
    }
}

#[cfg(test)]
mod tests;
