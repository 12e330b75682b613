//! Judgement of a run: whether it can be trusted, whether thresholds held, and the one conclusion.

pub mod facts;
pub mod threshold;
pub mod validity;
pub mod verdict;
