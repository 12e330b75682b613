//! Processors that this process may use: online, allowed by affinity, and left by the quotas of its control groups.

use super::Fact;
use crate::kernel_file;
use crate::topology::cgroup;
use crate::topology::probe::Quota;

const NAME: &str = "processors";

/// Limits of processors.
#[derive(Debug, Clone, Copy)]
struct CpuLimits {
    /// Processors of the machine that run.
    online: u32,
    /// Of these, the ones that this process may run on.
    allowed: u32,
    /// Processor time per second by quota; `None` without one.
    quota: Option<f64>,
}

pub(super) fn look() -> Fact {
    let online = kernel_file::read("/sys/devices/system/cpu/online").ok();
    let allowed = rustix::thread::sched_getaffinity(None).ok();
    match (online.as_deref().and_then(count), allowed) {
        (Some(online), Some(allowed)) => judge(CpuLimits {
            online,
            allowed: allowed.count(),
            quota: quota(),
        }),
        _ => Fact::unknown(NAME, "this host does not say how many are online"),
    }
}

fn judge(found: CpuLimits) -> Fact {
    let CpuLimits {
        online,
        allowed,
        quota,
    } = found;
    let finding = match quota {
        Some(quota) => format!("{allowed} usable of {online}, at most {quota:.2} by quota"),
        None => format!("{allowed} usable of {online}, no quota"),
    };
    if quota.is_some_and(|quota| quota < f64::from(allowed)) {
        return Fact::limits(
            NAME,
            finding,
            "a quota stops the generator for tens of milliseconds at a time (criterion 5)",
            "raise the quota of this control group or container, or run outside it",
        );
    }
    if allowed < online {
        return Fact::limits(
            NAME,
            finding,
            "generator and components share fewer processors than the machine has",
            "start it without `taskset` or with a wider cpuset",
        );
    }
    if allowed == 1 {
        return Fact::limits(
            NAME,
            finding,
            "the generator shares its processor with everything that it loads",
            "more processors, or a target on another host",
        );
    }
    Fact::ok(NAME, finding)
}

/// How many processors a list such as `0-3,8` names.
fn count(list: &str) -> Option<u32> {
    list.trim()
        .split(',')
        .map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
            Some(last.checked_sub(first)? + 1)
        })
        .sum()
}

/// The tightest quota of this process's group and of those above it.
fn quota() -> Option<f64> {
    let quotas = Quota::of(&cgroup::of(std::process::id())?);
    quotas.iter().filter_map(Quota::cores).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Judgement;

    #[test]
    fn what_is_less_than_the_machine_limits() {
        let check = |online, allowed, quota, ok: bool, finding: &str| {
            let fact = judge(CpuLimits {
                online,
                allowed,
                quota,
            });
            assert_eq!(
                (fact.judgement == Judgement::Ok, fact.finding.as_str()),
                (ok, finding)
            );
        };
        check(2, 2, None, true, "2 usable of 2, no quota");
        check(
            8,
            8,
            Some(8.0),
            true,
            "8 usable of 8, at most 8.00 by quota",
        );
        check(
            8,
            8,
            Some(0.5),
            false,
            "8 usable of 8, at most 0.50 by quota",
        );
        check(8, 2, None, false, "2 usable of 8, no quota");
        check(1, 1, None, false, "1 usable of 1, no quota");
    }

    #[test]
    fn captured_text() {
        let check = |list: &str, expected| assert_eq!(count(list), expected, "{list}");
        check("0-3,8\n", Some(5));
        check("0\n", Some(1));
        check("", None);
    }
}
