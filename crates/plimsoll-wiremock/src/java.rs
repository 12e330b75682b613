//! Java's ways where WireMock's users see them: expressions, sets, JSON as text, dates.

pub(crate) mod date_format;
pub(crate) mod date_time;
pub mod json;
pub(crate) mod regex;
pub mod set;
pub(crate) mod time_format;
