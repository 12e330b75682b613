//! Says what share of a stub directory this version supports, without serving it.

use crate::error::MockError;
use crate::mappings::source;
use plimsoll_wiremock::reader::problem::FileProblem;
use plimsoll_wiremock::reader::surroundings::Surroundings;
use std::fmt;
use std::path::Path;

/// Findings in a stub directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Files below `mappings`.
    pub files: usize,
    /// Mappings that can be served.
    pub supported: usize,
    /// Mappings that cannot.
    pub refused: usize,
    /// Every problem, in the order of files.
    pub problems: Vec<FileProblem>,
}

/// Reads every stub mapping below `root`, which holds `mappings` and `__files`.
///
/// # Errors
/// [`MockError::File`] when the directory itself cannot be read. What is wrong within it is in the report.
pub fn validate(root: &Path) -> Result<Report, MockError> {
    let loaded = source::load(root, &Surroundings::default())?;
    Ok(Report {
        files: loaded.files,
        supported: loaded.mappings.len(),
        refused: loaded.refused,
        problems: loaded.problems,
    })
}

impl Report {
    /// Whether a mock would start on this directory.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.problems {
            writeln!(f, "{problem}")?;
        }
        let all = self.supported + self.refused;
        let share = (self.supported * 100).checked_div(all).unwrap_or(100);
        write!(
            f,
            "{} of {all} stub mappings in {} files supported ({share} %)",
            self.supported, self.files
        )
    }
}
