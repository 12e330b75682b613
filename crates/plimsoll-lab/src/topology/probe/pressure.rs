//! Pressure stall information: for how long something waited for a processor, memory or a disk, of the machine from `/proc/pressure/`,
//! of a control group from its `*.pressure` (Documentation/accounting/psi.rst).

use crate::kernel_file;
use std::path::{Path, PathBuf};

/// Microseconds for which at least one task waited; what the kernel does not say is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Waited {
    pub(super) cpu: Option<u64>,
    pub(super) memory: Option<u64>,
    pub(super) io: Option<u64>,
}

/// Shares of an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Shares {
    pub(super) cpu: Option<f64>,
    pub(super) memory: Option<f64>,
    pub(super) io: Option<f64>,
}

impl Waited {
    /// The machine's.
    pub(super) fn of_machine() -> Self {
        Self::read(|what| PathBuf::from("/proc/pressure").join(what))
    }

    /// A control group's.
    pub(super) fn of_group(group: &Path) -> Self {
        Self::read(|what| group.join(format!("{what}.pressure")))
    }

    fn read(file: impl Fn(&str) -> PathBuf) -> Self {
        let total = |what| parse(&kernel_file::read(file(what)).ok()?);
        Self {
            cpu: total("cpu"),
            memory: total("memory"),
            io: total("io"),
        }
    }

    /// Shares of the `length_s` seconds since `before`.
    pub(super) fn since(self, before: Self, length_s: f64) -> Shares {
        #[expect(clippy::cast_precision_loss, reason = "microseconds of one interval")]
        let share = |after: Option<u64>, before: Option<u64>| {
            let micros = after?.saturating_sub(before?) as f64;
            Some((micros * 1e-6 / length_s).min(1.0))
        };
        Shares {
            cpu: share(self.cpu, before.cpu),
            memory: share(self.memory, before.memory),
            io: share(self.io, before.io),
        }
    }
}

/// The total of the line `some`.
fn parse(pressure: &str) -> Option<u64> {
    let line = pressure.lines().find(|line| line.starts_with("some "))?;
    let (_, total) = line.split_once("total=")?;
    total.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_text() {
        let text = "some avg10=5.83 avg60=13.12 avg300=12.75 total=9984327094\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(parse(text), Some(9_984_327_094));
        assert_eq!(parse(""), None);
    }

    #[test]
    fn shares_are_of_the_interval() {
        let waited = |cpu| Waited {
            cpu: Some(cpu),
            ..Waited::default()
        };
        let shares = waited(1_500_000).since(waited(1_000_000), 2.0);
        assert_eq!((shares.cpu, shares.memory), (Some(0.25), None));
    }
}
