//! The wall clock, read in one place.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, as nanoseconds since 1970; a clock set before that reads as 1970.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "the binary names runs and draws default seeds by the wall clock"
)]
pub fn unix_nanos() -> u128 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| elapsed.as_nanos())
}

/// A seed that differs from run to run.
#[must_use]
pub fn seed() -> u64 {
    // The low half of the nanoseconds changes fastest; 32 bits are easy to type again.
    u64::try_from(unix_nanos() % u128::from(u32::MAX)).expect("invariant: below 2^32")
}
