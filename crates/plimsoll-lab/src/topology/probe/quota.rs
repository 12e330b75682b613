//! The CPU quota of a control group in cores, from `cpu.max` (version 2) or `cpu.cfs_quota_us` and `cpu.cfs_period_us` (version 1).

use std::fs;
use std::path::Path;

/// The group's own quota; `None` when it has none, or is gone.
pub(super) fn cores(group: &Path) -> Option<f64> {
    let text = |file: &str| fs::read_to_string(group.join(file)).ok();
    if let Some(max) = text("cpu.max") {
        return parse(&max);
    }
    parse(&format!(
        "{} {}",
        text("cpu.cfs_quota_us")?.trim(),
        text("cpu.cfs_period_us")?
    ))
}

/// `quota period`, both in microseconds; no quota is `max` or −1.
fn parse(text: &str) -> Option<f64> {
    let (quota, period) = text.trim().split_once(' ')?;
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_text() {
        let check = |text, expected: Option<f64>| assert_eq!(parse(text), expected, "{text}");
        check("25000 100000\n", Some(0.25));
        check("max 100000\n", None);
        check("-1 100000\n", None);
    }
}
