//! The lab: runs an experiment. It starts components, applies load, watches resources and keeps a record.
//!
//! [`run()`] is the whole of it: an [`plimsoll_experiment::Experiment`] in, a run directory and a summary out. What the figures mean is
//! left to `plimsoll-report`, how load is made to `plimsoll-load`, and everything that a person sees (terminal, exit codes,
//! signals) to the binary.

mod account;
mod ceiling;
mod cgroup;
mod child;
mod clock;
mod collect;
mod component;
mod conclude;
mod demand;
pub mod doctor;
mod error;
mod generator;
mod health;
mod host;
mod http_get;
mod load;
mod manifest;
mod mask;
mod method;
mod options;
pub mod preflight;
mod probe;
mod process_tree;
mod progress;
mod recorder;
mod run;
pub mod rundir;
mod service_time_check;
pub mod shim;
mod skipped_arms;
mod token;
mod watch;

pub use error::{ErrorKind, LabError, LogTail};
pub use options::RunOptions;
pub use progress::{Ahead, ComponentProgress, Numbered, Progress, SecondProgress};
pub use run::{RunOutcome, run};
pub use rundir::{load as load_run, load_summary, trials as load_trials};
