//! How much of its memory limit a control group uses, from `memory.current` and `memory.max` (version 2) or
//! `memory.usage_in_bytes` and `memory.limit_in_bytes` (version 1).

use std::fs;
use std::path::Path;

/// Version 1 says no limit as the largest number of whole pages; nothing has half of that.
const NO_LIMIT: f64 = 4.0e18;

/// The share of the tightest limit of the group and of those above it; `None` where there is none.
pub(super) fn share(group: &Path) -> Option<f64> {
    let of = |group: &Path| {
        let number = |file: &str| fs::read_to_string(group.join(file)).ok();
        let (used, limit) = match number("memory.current") {
            Some(used) => (used, number("memory.max")?),
            None => (
                number("memory.usage_in_bytes")?,
                number("memory.limit_in_bytes")?,
            ),
        };
        of_limit(&used, &limit)
    };
    group.ancestors().filter_map(of).reduce(f64::max)
}

fn of_limit(used: &str, limit: &str) -> Option<f64> {
    let limit: f64 = limit.trim().parse().ok()?;
    let used: f64 = used.trim().parse().ok()?;
    (limit > 0.0 && limit < NO_LIMIT).then(|| used / limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_text() {
        let check =
            |used, limit, expected: Option<f64>| assert_eq!(of_limit(used, limit), expected);
        check("500\n", "1000\n", Some(0.5));
        check("500\n", "max\n", None);
        check("500\n", "9223372036854771712\n", None);
    }
}
