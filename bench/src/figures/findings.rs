//! The findings of a comparison.

use crate::figures::rounds::Sides;
use crate::figures::row::Row;

/// Rows, and what they rest on.
#[derive(Debug, Default)]
pub struct Findings {
    /// The rows of the table.
    pub rows: Vec<Row>,
    /// Notes on its readings for the foot of the table.
    pub notes: Vec<String>,
}

impl Findings {
    /// Rows that rest on the readings of some sides.
    pub fn of<R>(rows: Vec<Row>, sides: &Sides<R>) -> Self {
        let notes = vec![sides.note()];
        Self { rows, notes }
    }
}
