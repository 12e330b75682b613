//! Time stamps of a recording, in milliseconds since 1970.

/// Reads an ISO 8601 time stamp.
pub fn parse(text: &str) -> Option<i64> {
    let stamp: jiff::Timestamp = text.parse().ok()?;
    Some(stamp.as_millisecond())
}

/// So many milliseconds later.
#[expect(
    clippy::cast_possible_truncation,
    reason = "`as` saturates, and a recording lasts no 290 million years"
)]
pub fn after(start: i64, milliseconds: f64) -> i64 {
    start.saturating_add(milliseconds.max(0.0) as i64)
}

/// From one to the other; 0 when they overlap, as the requests of a page do.
pub fn between(from: i64, to: i64) -> u64 {
    u64::try_from(to.saturating_sub(from)).unwrap_or(0)
}
