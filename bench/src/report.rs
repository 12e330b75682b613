//! The report of a run: rounds become rows by statistics, rows and notes the dated table, tables what documents quote.

pub mod findings;
pub mod memory_rows;
pub mod progress;
pub mod results;
pub mod row;
pub mod server_rows;
pub mod statistics;
pub mod table;
