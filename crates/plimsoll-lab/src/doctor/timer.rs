//! How late a timer wakes a thread: the kernel's and the hypervisor's part of the pacing lag.

use super::Fact;
use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::units::format_seconds;
use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::time::Duration;

const NAME: &str = "timer";
/// Wakes, and nanoseconds between them: together a second.
const WAKES: u32 = 200;
const GAP_NS: i64 = 5_000_000;
/// Lateness of a paced arrival that is allowed: docs/truth.md.
const ALLOWED_S: f64 = 0.000_5;

pub(super) fn look() -> Fact {
    let lateness = measure();
    match (lateness.quantile(0.5), lateness.quantile(0.99)) {
        (Some(p50), Some(p99)) => judge(p50, p99),
        _ => Fact::unknown(NAME, "no wake was seen"),
    }
}

fn measure() -> TimeHistogram {
    let mut lateness = TimeHistogram::new();
    let mut due = clock_gettime(ClockId::Monotonic);
    for _ in 0..WAKES {
        due = later(due, GAP_NS);
        while clock_nanosleep_absolute(ClockId::Monotonic, &due) == Err(Errno::INTR) {}
        let now = clock_gettime(ClockId::Monotonic);
        let late = (now.tv_sec - due.tv_sec) * 1_000_000_000 + (now.tv_nsec - due.tv_nsec);
        lateness.record(Duration::from_nanos(u64::try_from(late).unwrap_or(0)));
        if late > GAP_NS {
            // The next one is due after a whole gap, so that one stall counts once.
            due = now;
        }
    }
    lateness
}

fn later(time: Timespec, nanos: i64) -> Timespec {
    let nanos = time.tv_nsec + nanos;
    Timespec {
        tv_sec: time.tv_sec + nanos / 1_000_000_000,
        tv_nsec: nanos % 1_000_000_000,
    }
}

fn judge(p50: f64, p99: f64) -> Fact {
    let finding = format!(
        "wakes {} late at the median, {} at the p99 of {WAKES}",
        format_seconds(p50),
        format_seconds(p99)
    );
    if p50 > ALLOWED_S {
        return Fact::limits(
            NAME,
            finding,
            "every figure: arrivals are released that late (criterion 2)",
            "`pacing: precise`, which spins instead, or another host",
        );
    }
    if p99 > ALLOWED_S {
        return Fact::limits(
            NAME,
            finding,
            "high percentiles: some arrivals are released that late (criterion 2)",
            "end other work on this host; where the hypervisor stalls it, another host",
        );
    }
    Fact::ok(NAME, finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Judgement;

    #[test]
    fn late_wakes_limit_what_they_reach() {
        let check = |p50, p99, expected: &str| match judge(p50, p99).judgement {
            Judgement::Limits { what, .. } => assert!(what.starts_with(expected), "{what}"),
            other => assert_eq!((other, expected), (Judgement::Ok, "")),
        };
        check(0.000_06, 0.000_3, "");
        check(0.000_06, 0.003, "high percentiles");
        check(0.002, 0.004, "every figure");
    }

    #[test]
    fn seconds_carry() {
        let time = Timespec {
            tv_sec: 1,
            tv_nsec: 999_000_000,
        };
        let after = later(time, GAP_NS);
        assert_eq!((after.tv_sec, after.tv_nsec), (2, 4_000_000));
    }
}
