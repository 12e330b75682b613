//! From what was measured to the summary: the experiment's words in the report's terms.

use crate::error::LabError;
use crate::experiment::{self, Bound, Experiment};
use plimsoll_report::metric::Metric;
use plimsoll_report::record::{ArmBlocks, Manifest, Summary};
use plimsoll_report::summarise::{self, Facts, Method};
use plimsoll_report::threshold::{self, Threshold};
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

/// What `arms` say. Arms without any data are left out.
///
/// # Errors
/// [`LabError::Input`] for a threshold on a metric that no summary has.
pub fn summarise(
    experiment: &Experiment,
    manifest: &Manifest,
    complete: bool,
    arms: &[ArmBlocks],
) -> Result<Summary, LabError> {
    let facts = Facts {
        experiment: experiment.name.clone(),
        seed: manifest.seed,
        host: manifest.host.clone(),
        complete,
        deaths: Vec::new(),
    };
    let method = match &experiment.method {
        experiment::Method::Measure => Method::Measure,
        experiment::Method::Compare { baseline, .. } => Method::Compare {
            baseline: baseline.clone(),
        },
    };
    let thresholds: Vec<Threshold> = experiment
        .thresholds
        .iter()
        .map(threshold)
        .collect::<Result<_, _>>()?;
    let measured: Vec<ArmBlocks> = arms
        .iter()
        .filter(|arm| !arm.blocks.is_empty())
        .cloned()
        .collect();
    Ok(summarise::summarise(
        &facts,
        &method,
        &measured,
        &thresholds,
    ))
}

fn threshold(wanted: &experiment::Threshold) -> Result<Threshold, LabError> {
    let path = wanted.metric.path();
    let metric = Metric::parse(path).map_err(|error| {
        LabError::Input(format!("threshold on `{}` `{path}`: {error}", wanted.arm))
    })?;
    Ok(Threshold {
        arm: wanted.arm.clone(),
        metric,
        bound: match wanted.bound {
            Bound::Below(limit) => threshold::Bound::Below(limit),
            Bound::Above(limit) => threshold::Bound::Above(limit),
        },
    })
}
