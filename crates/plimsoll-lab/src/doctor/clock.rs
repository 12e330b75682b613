//! The clock that every time is read from: its source, and what a reading costs.

use super::Fact;
use rustix::time::{ClockId, clock_gettime};
use std::fs;
use tokio::time::Instant;

const NAME: &str = "clock";
/// Batches, and the readings of each over which the cost is averaged.
const BATCHES: u32 = 100;
const READINGS: u32 = 1000;
/// The generator reads the clock a handful of times per exchange: below this, that is under a tenth of an exchange's work.
const CHEAP_NS: f64 = 100.0;

pub(super) fn look() -> Fact {
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let source = fs::read_to_string(path);
    judge(source.as_deref().unwrap_or("unknown source").trim(), cost())
}

/// Nanoseconds per reading of `CLOCK_MONOTONIC`, of the batch that was interrupted least.
fn cost() -> f64 {
    let batches = (0..BATCHES).map(|_| {
        let before = Instant::now();
        for _ in 0..READINGS {
            std::hint::black_box(clock_gettime(ClockId::Monotonic));
        }
        before.elapsed().as_secs_f64() * 1e9 / f64::from(READINGS)
    });
    batches.fold(f64::INFINITY, f64::min)
}

fn judge(source: &str, cost_ns: f64) -> Fact {
    let finding = format!("{source}, {cost_ns:.0} ns per reading");
    if cost_ns <= CHEAP_NS {
        return Fact::ok(NAME, finding);
    }
    Fact::limits(
        NAME,
        finding,
        "the generator's rate: every exchange reads the clock several times",
        "choose `tsc` (or the hypervisor's own clock) as clocksource, if the kernel offers it",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Judgement;

    #[test]
    fn a_clock_that_needs_the_kernel_is_dear() {
        let check = |source, cost, ok: bool| {
            assert_eq!(
                judge(source, cost).judgement == Judgement::Ok,
                ok,
                "{source}"
            );
        };
        check("tsc", 25.0, true);
        check("hpet", 1200.0, false);
    }
}
