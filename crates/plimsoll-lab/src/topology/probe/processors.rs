//! How busy each processor of the machine is, whichever process uses it, from `/proc/stat`; and which of them a process may use.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity};

/// Ticks of each processor since boot, by its number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Processors(Vec<(usize, Ticks)>);

/// Ticks of one processor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Ticks {
    idle: u64,
    all: u64,
}

/// The processors that some processes may use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Allowed(Vec<usize>);

impl Processors {
    /// The totals in a text of `/proc/stat`.
    pub(super) fn parse(stat: &str) -> Self {
        let lines = stat.lines().filter_map(|line| line.strip_prefix("cpu"));
        Self(lines.filter_map(processor).collect())
    }

    /// The share of their time in which processors worked since `before`; of all where `allowed` is `None`. `None` without a tick.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub(super) fn busy_since(&self, before: &Self, allowed: Option<&Allowed>) -> Option<f64> {
        let (mut idle, mut all) = (0, 0);
        for (number, ticks) in &self.0 {
            if allowed.is_some_and(|allowed| !allowed.0.contains(number)) {
                continue;
            }
            let earlier = before.0.iter().find(|(other, _)| other == number);
            let (_, earlier) = earlier?;
            idle += ticks.idle.saturating_sub(earlier.idle);
            all += ticks.all.saturating_sub(earlier.all);
        }
        (all > 0).then(|| 1.0 - idle.min(all) as f64 / all as f64)
    }
}

impl Allowed {
    /// Those of all these processes; `None` when none of them is there any more.
    pub(super) fn of(pids: &[u32]) -> Option<Self> {
        let mut numbers: Vec<usize> = Vec::new();
        for pid in pids {
            let pid = i32::try_from(*pid).ok().and_then(Pid::from_raw);
            let Some(set) = pid.and_then(|pid| sched_getaffinity(Some(pid)).ok()) else {
                continue;
            };
            numbers.extend((0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)));
        }
        numbers.sort_unstable();
        numbers.dedup();
        (!numbers.is_empty()).then_some(Self(numbers))
    }

    /// How many.
    #[expect(clippy::cast_precision_loss, reason = "a number of processors")]
    pub(super) fn count(&self) -> f64 {
        self.0.len() as f64
    }
}

/// A line of proc_stat(5) behind `cpu`; `None` for the sum of all.
fn processor(line: &str) -> Option<(usize, Ticks)> {
    let mut fields = line.split_ascii_whitespace();
    let number = line.starts_with(|c: char| c.is_ascii_digit());
    let number = number.then(|| fields.next()?.parse().ok()).flatten()?;
    // User, nice, system, idle, iowait, irq, softirq, steal; the guests' are part of user and nice.
    let ticks: Vec<u64> = fields
        .take(8)
        .map_while(|field| field.parse().ok())
        .collect();
    let ticks = Ticks {
        idle: ticks.get(3)? + ticks.get(4).copied().unwrap_or(0),
        all: ticks.iter().sum(),
    };
    Some((number, ticks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_text() {
        let before = Processors::parse(
            "cpu  9 9 9 9\ncpu0 10 0 0 90 0 0 0 0 0 0\ncpu1 0 0 0 100 0 0 0 0 0 0\nintr 5\n",
        );
        let after = Processors::parse(
            "cpu  9 9 9 9\ncpu0 100 0 0 100 0 0 0 0 0 0\ncpu1 0 0 0 190 10 0 0 0 0 0\n",
        );
        let of = |numbers: &[usize]| {
            let busy = after.busy_since(&before, Some(&Allowed(numbers.to_vec())));
            busy.map(|busy| (busy * 100.0).round())
        };
        assert_eq!(of(&[0]), Some(90.0));
        assert_eq!(of(&[1]), Some(0.0));
        assert_eq!(of(&[0, 1]), Some(45.0));
        assert_eq!(of(&[7]), None);
        assert!((after.busy_since(&before, None).unwrap() - 0.45).abs() < 1e-9);
    }

    #[test]
    fn this_process_may_use_some_processor() {
        let allowed = Allowed::of(&[std::process::id()]).unwrap();
        assert!(allowed.count() >= 1.0);
        assert_eq!(Allowed::of(&[]), None);
    }
}
