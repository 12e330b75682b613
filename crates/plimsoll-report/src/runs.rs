//! Several runs beside each other: held against each other, or as a history.

pub mod across;
pub mod history;
