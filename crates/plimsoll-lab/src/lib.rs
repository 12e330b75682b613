//! The lab: runs an experiment. It starts components, applies load, watches resources and keeps a record.
//!
//! What the figures mean is left to `plimsoll-report`, how load is made to `plimsoll-load`, and everything that a person
//! sees (terminal, exit codes, signals) to the binary.

mod child;
mod clock;
mod error;
pub mod experiment;
mod probe;
mod host;
mod process_tree;
pub mod rundir;
pub mod schema;
pub mod shim;

pub use error::{ErrorKind, LabError, LogTail};
