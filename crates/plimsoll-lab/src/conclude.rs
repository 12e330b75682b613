//! From what was measured to the summary: the experiment's words in the report's terms.

use crate::experiment::{self, Experiment};
use plimsoll_report::record::{ArmBlocks, Manifest, Summary};
use plimsoll_report::summarise::{self, Facts, Method};
use std::collections::BTreeMap;

/// The experiment's arms, without any block yet.
#[must_use]
pub fn empty(experiment: &Experiment) -> Vec<ArmBlocks> {
    let arms = experiment.arms.iter();
    arms.map(|arm| ArmBlocks {
        name: arm.name.clone(),
        blocks: BTreeMap::new(),
    })
    .collect()
}

/// What `arms` say; `deaths` holds a sentence for each component that died. Arms without any data are left out.
pub fn summarise(
    experiment: &Experiment,
    manifest: &Manifest,
    complete: bool,
    arms: &[ArmBlocks],
    deaths: Vec<String>,
) -> Summary {
    let facts = Facts {
        experiment: experiment.name.clone(),
        seed: manifest.seed,
        host: manifest.host.clone(),
        complete,
        deaths,
    };
    let method = match &experiment.method {
        experiment::Method::Measure => Method::Measure,
        experiment::Method::Compare { baseline, .. } => Method::Compare {
            baseline: baseline.clone(),
        },
    };
    let measured: Vec<ArmBlocks> = arms
        .iter()
        .filter(|arm| !arm.blocks.is_empty())
        .cloned()
        .collect();
    summarise::summarise(&facts, &method, &measured, &experiment.thresholds)
}
