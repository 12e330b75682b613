//! The lab: runs an experiment. It starts components, applies load, watches resources and keeps a record.
//!
//! [`run()`] is the whole of it: an [`plimsoll_experiment::Experiment`] in, a run directory and a summary out. What the figures mean is
//! left to `plimsoll-report`, how load is made to `plimsoll-load`, and everything that a person sees (terminal, exit codes,
//! signals) to the binary.
//!
//! Its modules by floors. None uses one of a floor above its own, and no two need each other:
//!
//! | floor | modules |
//! |---|---|
//! | facts of this host, found by looking and by short tries | [`doctor`] |
//! | a run from its manifest to its summary, by one of the methods | `run` |
//! | one arm's load in one block | `load` |
//! | faults during a load: injected, proved, healed | `fault` |
//! | components as processes, and what these consume | `topology` |
//! | what a plan can reach at most; what a run is told beside its experiment | [`preflight`], `options` |
//! | the generator's ceiling on this host, as a file | `ceiling` |
//! | fragments become rows, and rows files of the run directory; what is told to spectators | `record`, `progress` |
//! | facts of the machine | `host` |
//! | what the kernel tells in files | `kernel_file` |
//! | why a run ended early; secrets, masked; the time of a run; what is to be undone whoever dies | `error`, `mask`, `clock`, `undo` |
//! | the API of Toxiproxy, and of our fault proxy | `toxiproxy` |

mod ceiling;
mod clock;
pub mod doctor;
mod error;
mod fault;
mod host;
mod kernel_file;
mod load;
mod mask;
mod options;
pub mod preflight;
mod progress;
mod record;
mod run;
mod topology;
mod toxiproxy;
mod undo;

pub use error::{ErrorKind, LabError, LogTail};
pub use fault::check as check_faults;
pub use options::RunOptions;
pub use progress::{Ahead, ComponentProgress, Numbered, Progress, SecondProgress};
pub use record::rundir;
pub use record::rundir::{Earlier, heal, load as load_run, load_summary, trials as load_trials};
pub use run::{RunOutcome, run};
pub use topology::{disk, network, shim, warden};
