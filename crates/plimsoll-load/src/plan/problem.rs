//! Problems of a plan.

use super::PlanPlace;
use std::fmt;

/// One thing that is wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanProblem {
    /// Where in the plan.
    pub place: PlanPlace,
    /// The problem, and what to write instead.
    pub message: String,
}

impl fmt::Display for PlanProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// Everything that is wrong with a plan; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanProblems(pub Vec<PlanProblem>);

impl fmt::Display for PlanProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for PlanProblems {}
