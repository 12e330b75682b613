//! The clock and waiting, in one place.

use crate::interrupt;
use std::time::{Duration, Instant};

/// How often a long pause looks whether the program was asked to stop.
const LOOK: Duration = Duration::from_millis(100);

/// How long before a moment [`until`] stops sleeping and spins.
const SPIN: Duration = Duration::from_micros(200);

/// Now.
#[expect(
    clippy::disallowed_methods,
    reason = "a measurement takes real time; this is where it reads it"
)]
pub fn now() -> Instant {
    Instant::now()
}

/// Waits for a length of time: what is measured lasts, and other programs are waited for by looking again. Cut short when the program is
/// asked to stop.
pub fn pause(length: Duration) {
    let end = now() + length;
    while !interrupt::requested() {
        let left = end.saturating_duration_since(now());
        if left.is_zero() {
            break;
        }
        sleep(left.min(LOOK));
    }
}

/// Sleeps a short while, whatever happens.
#[expect(
    clippy::disallowed_methods,
    reason = "a measurement of a given length has no event to wait for"
)]
pub fn sleep(length: Duration) {
    std::thread::sleep(length);
}

/// Waits for a moment to within microseconds: sleeps first and spins at the end.
pub fn until(moment: Instant) {
    let left = moment.saturating_duration_since(now());
    if left > SPIN {
        sleep(left - SPIN);
    }
    while now() < moment {
        std::hint::spin_loop();
    }
}

/// The date and time of day as the name of a file.
pub fn stamp() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H%M%SZ")
        .to_string()
}
