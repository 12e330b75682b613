//! From what was measured to the summary: the experiment's words in the report's terms.

use crate::preflight::Warning;
use crate::run::method::Session;
use plimsoll_experiment::{self as experiment, Experiment};
use plimsoll_report::facts::Facts;
use plimsoll_report::record::Breach;
use plimsoll_report::record::{ArmBlocks, Manifest, Summary};
use plimsoll_report::summarise::{self, Method};
use std::collections::BTreeMap;

/// The experiment's arms, without any block yet, and what was said of each before the run.
#[must_use]
pub fn empty(experiment: &Experiment, warnings: &[Warning]) -> Vec<ArmBlocks> {
    let arms = experiment.arms.iter();
    arms.map(|arm| {
        let said = warnings.iter().filter(|warning| warning.arm == arm.name);
        ArmBlocks {
            name: arm.name.clone(),
            blocks: BTreeMap::new(),
            notes: said.map(|warning| warning.sentence.clone()).collect(),
        }
    })
    .collect()
}

/// How a run came to its end.
#[derive(Debug, Default)]
pub struct Course {
    /// Why it did not go on until there was something to conclude: `None` if everything was done, or a threshold ended it.
    pub cut_short: Option<String>,
    /// Windows in which thresholds ended a load, by the place of the threshold.
    pub breaches: BTreeMap<usize, Breach>,
    /// A sentence for each component that died.
    pub deaths: Vec<String>,
}

/// Summary of all that was measured. Arms of which nothing was are left out.
pub fn summarise(session: &Session<'_, '_>, manifest: &Manifest, course: Course) -> Summary {
    let experiment = session.experiment;
    let facts = Facts {
        experiment: experiment.name.clone(),
        seed: manifest.seed,
        host: manifest.host.clone(),
        ranges: experiment.ranges.clone(),
        cut_short: course.cut_short,
        breaches: course.breaches,
        deaths: course.deaths,
        absent: session.absent.clone(),
    };
    let method = match &experiment.method {
        experiment::Method::Measure => Method::Measure,
        experiment::Method::Compare { baseline, .. } => Method::Compare {
            baseline: baseline.clone(),
        },
        experiment::Method::Levels(levels) => Method::Levels(levels.named(manifest.seed)),
        experiment::Method::Capacity(_) => Method::Capacity(session.searches.clone()),
        experiment::Method::Sensitivity(_) => Method::Sensitivity(session.delays.clone()),
        experiment::Method::Availability(availability) => {
            let arms = experiment.arms.iter();
            let of_arm = |arm: &experiment::Arm| {
                let settings = availability.settings(arm, &experiment.faults);
                let trials = session.trials.get(&arm.name).cloned().unwrap_or_default();
                let found =
                    plimsoll_report::availability::summarise(&settings, trials, manifest.seed);
                (arm.name.clone(), found)
            };
            Method::Availability(arms.map(of_arm).collect())
        }
    };
    let measured: Vec<ArmBlocks> = session
        .arms
        .iter()
        .filter(|arm| {
            !arm.blocks.is_empty()
                || session.searches.contains_key(&arm.name)
                || session.trials.contains_key(&arm.name)
        })
        .cloned()
        .collect();
    summarise::summarise(&facts, &method, &measured, &experiment.thresholds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_experiment::memory::with_load;
    use plimsoll_report::record::{ArmData, LoadModel, Ranges};

    #[test]
    fn what_was_said_before_the_run_stands_beside_its_arm() {
        let load = "{ rate: 10/s, duration: 5s }";
        let experiment = with_load(load, "arms: { one: {}, two: {} }");
        let experiment = experiment.load(&[]).unwrap();
        let warnings = [Warning {
            arm: "two".to_owned(),
            sentence: "offers much".to_owned(),
        }];
        let mut arms = empty(&experiment, &warnings);
        for arm in &mut arms {
            let data = ArmData::new(&arm.name, "upstream", LoadModel::Closed, None);
            arm.blocks.insert(1, data);
        }
        let facts = Facts {
            experiment: String::new(),
            seed: 1,
            host: crate::host::read(),
            ranges: Ranges::default(),
            cut_short: None,
            breaches: BTreeMap::new(),
            deaths: Vec::new(),
            absent: Vec::new(),
        };
        let summary = summarise::summarise(&facts, &Method::Measure, &arms, &[]);
        let label = "closed model: stalls are under-sampled";
        assert_eq!(summary.arms["one"].notes, [label]);
        assert_eq!(summary.arms["two"].notes, ["offers much", label]);
    }
}
