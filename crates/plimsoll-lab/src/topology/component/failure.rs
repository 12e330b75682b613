//! Components that do not start, or end by themselves, with the ends of their logs.

use crate::error::{LabError, LogTail};
use crate::topology::child::{Child, Exit};
use std::path::Path;

/// A component that did not start, which is ended.
pub(super) async fn not_started(
    name: &str,
    mut child: Child,
    reason: &str,
    log: &Path,
) -> LabError {
    child.kill().await;
    LabError::NotStarted {
        component: name.to_owned(),
        reason: reason.to_owned(),
        log: Some(LogTail::read(log)),
    }
}

/// A component that ended by itself.
pub(super) fn died(name: &str, exit: Exit, log: &Path) -> LabError {
    LabError::Died {
        component: name.to_owned(),
        reason: exit.to_string(),
        log: LogTail::read(log),
    }
}
