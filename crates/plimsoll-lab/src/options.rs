//! Options of a run beside its experiment.

use std::path::PathBuf;
use std::sync::Mutex;

use crate::preflight::Warning;
use crate::record::rundir::Earlier;
use plimsoll_experiment::Surroundings;
use plimsoll_report::live::Totals;

/// Options of a run beside its experiment.
pub struct RunOptions<'a> {
    /// The run directory, which must not exist.
    pub out: PathBuf,
    /// Keys everything random in the run.
    pub seed: u64,
    /// Our own executable: components of ours, the generator and shims are it.
    pub executable: PathBuf,
    /// Files and variables that the experiment refers to.
    pub surroundings: &'a dyn Surroundings,
    /// Warnings that the person saw before the run began: recorded as its first warnings, and as notes of their arms.
    pub warnings: &'a [Warning],
    /// Where what is counted is added up while it runs, for who watches from outside. The lock is held for as long as adding takes.
    pub totals: Option<&'a Mutex<Totals>>,
    /// Trials of an earlier run that this one goes on from.
    pub earlier: Earlier,
}
