//! The clock that every time is read from: its source, and what a reading costs.

use super::Fact;
use crate::kernel_file;
use rustix::time::{ClockId, clock_gettime};
use tokio::time::Instant;

const NAME: &str = "clock";
/// Where the kernel says which sources it has, and which of them it uses.
const SOURCES: &str = "/sys/devices/system/clocksource/clocksource0";
/// Batches, and the readings of each over which the cost is averaged.
const BATCHES: u32 = 100;
const READINGS: u32 = 1000;
/// The generator reads the clock a handful of times per exchange: below this, that is under a tenth of an exchange's work.
const CHEAP_NS: f64 = 100.0;

pub(super) fn look() -> Fact {
    let read = |file: &str| kernel_file::read(format!("{SOURCES}/{file}")).unwrap_or_default();
    let (source, offered) = (read("current_clocksource"), read("available_clocksource"));
    judge(source.trim(), &offered, cost())
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

fn judge(source: &str, offered: &str, cost_ns: f64) -> Fact {
    let named = if source.is_empty() {
        "unknown source"
    } else {
        source
    };
    let finding = format!("{named}, {cost_ns:.0} ns per reading");
    if cost_ns <= CHEAP_NS {
        return Fact::ok(NAME, finding);
    }
    Fact::limits(
        NAME,
        finding,
        "the generator's rate: every exchange reads the clock several times",
        remedy(source, offered),
    )
}

/// Advice that makes readings cheaper where `source` is used and `offered`, separated by blanks, could be.
fn remedy(source: &str, offered: &str) -> String {
    if source == "tsc" {
        return "another host: `tsc` is the cheapest there is, so a hypervisor or a sandbox intercepts its readings here".to_owned();
    }
    if offered.split_whitespace().any(|name| name == "tsc") {
        return format!("write `tsc` to {SOURCES}/current_clocksource");
    }
    "another host: this kernel does not offer `tsc`, the cheapest source".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Judgement;

    /// Checks the advice on such a clock; empty when there is none.
    fn check(source: &str, offered: &str, cost_ns: f64, expected: &str) {
        let remedy = match judge(source, offered, cost_ns).judgement {
            Judgement::Limits { remedy, .. } => remedy,
            _ => String::new(),
        };
        assert_eq!(remedy, expected, "{source} of {offered}");
    }

    #[test]
    fn a_cheap_clock_is_left_alone() {
        check("tsc", "tsc hpet acpi_pm\n", 25.0, "");
        check("kvm-clock", "kvm-clock tsc\n", 40.0, "");
        check("", "", 25.0, "");
    }

    #[test]
    fn what_is_in_use_already_is_not_suggested() {
        let elsewhere = "another host: `tsc` is the cheapest there is, so a hypervisor or a sandbox intercepts its readings here";
        check("tsc", "tsc hpet acpi_pm\n", 1200.0, elsewhere);
    }

    #[test]
    fn only_what_the_kernel_offers_is_suggested() {
        let choose =
            "write `tsc` to /sys/devices/system/clocksource/clocksource0/current_clocksource";
        check("hpet", "tsc hpet acpi_pm\n", 1200.0, choose);
        let elsewhere = "another host: this kernel does not offer `tsc`, the cheapest source";
        check("hpet", "hpet acpi_pm\n", 1200.0, elsewhere);
        check("", "", 1200.0, elsewhere);
    }
}
