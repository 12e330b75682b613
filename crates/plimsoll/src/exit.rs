//! Exit codes, decided in one place.

use plimsoll_lab::{ErrorKind, LabError};
use std::process::ExitCode;

/// Why a subcommand ended without success. Texts are written for the person at the terminal.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A file, a flag or a plan is wrong: nothing was started.
    #[error("{0}")]
    Input(String),
    /// A wrong flag or plan of `plimsoll hey`, which ends with 1 because hey does.
    #[error("{0}")]
    AsHey(String),
    /// This host did not let us: a component did not start, a port was taken, the disk was full.
    #[error("{0}")]
    Environment(String),
    /// A component died that was not meant to.
    #[error("{0}")]
    ComponentDied(String),
    /// A promise of the program to itself was broken.
    #[error("internal error: {0}")]
    Internal(String),
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        let text = error.to_string();
        match error.kind() {
            ErrorKind::Input => Self::Input(text),
            ErrorKind::Environment => Self::Environment(text),
            ErrorKind::Internal => Self::Internal(text),
            ErrorKind::ComponentDied => Self::ComponentDied(text),
        }
    }
}

/// How a subcommand ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Done; every threshold held.
    Passed,
    /// Interrupted; what was measured is kept.
    Interrupted,
    /// The measurement cannot carry what was asked of it.
    Invalid,
    /// A threshold did not hold.
    ThresholdFailed,
    /// Not enough to decide.
    Inconclusive,
}

/// The exit code of each way to end, as README.md lists them.
#[must_use]
pub fn code(result: &Result<Ending, Failure>) -> ExitCode {
    ExitCode::from(match result {
        Ok(Ending::Passed) => 0,
        Err(Failure::Internal(_) | Failure::AsHey(_)) => 1,
        Err(Failure::Input(_)) => 2,
        Ok(Ending::ThresholdFailed) => 3,
        Ok(Ending::Invalid) | Err(Failure::ComponentDied(_)) => 4,
        Err(Failure::Environment(_)) => 5,
        Ok(Ending::Inconclusive) => 6,
        Ok(Ending::Interrupted) => 130,
    })
}
