//! Facts of a run in its summary, apart from its figures.

use crate::record::{AbsentArm, Breach, Host, Ranges};
use std::collections::BTreeMap;

/// Facts of a run in its summary, apart from its figures.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The experiment's name.
    pub experiment: String,
    /// The seed of everything random in the run.
    pub seed: u64,
    /// The machine.
    pub host: Host,
    /// Bounds of the ranges of response times.
    pub ranges: Ranges,
    /// Why the run ended before there was something to conclude; `None` if it did not.
    pub cut_short: Option<String>,
    /// Windows in which thresholds ended a load, by the place of the threshold.
    pub breaches: BTreeMap<usize, Breach>,
    /// One sentence for each component that died and was not meant to.
    pub deaths: Vec<String>,
    /// Arms that were left out.
    pub absent: Vec<AbsentArm>,
}
