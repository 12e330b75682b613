//! How much of its memory limit a control group uses, from `memory.current` and `memory.max` (version 2) or
//! `memory.usage_in_bytes` and `memory.limit_in_bytes` (version 1).

use crate::kernel_file;
use std::path::{Path, PathBuf};

/// Version 1 says no limit as the largest number of whole pages; nothing has half of that.
const NO_LIMIT: f64 = 4.0e18;

/// A limit, which may change, and what is used of it: names of both files.
const FILES: [(&str, &str); 2] = [
    ("memory.max", "memory.current"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes"),
];

/// A group that can have a limit.
#[derive(Debug, Clone)]
pub(super) struct MemoryLimit {
    limit: PathBuf,
    used: PathBuf,
}

impl MemoryLimit {
    /// Those that bind a process: of its own group, and of those above it. A group that can have none now is not asked again.
    pub(super) fn of(own: &Path) -> Vec<Self> {
        let of = |group: &Path| {
            let mut all = FILES.iter().map(|(limit, used)| Self {
                limit: group.join(limit),
                used: group.join(used),
            });
            all.find(|files| files.limit.exists())
        };
        own.ancestors().filter_map(of).collect()
    }

    /// The share of the limit that is used; `None` where there is none at the moment.
    pub(super) fn share(&self) -> Option<f64> {
        let limit = bytes(&kernel_file::read(&self.limit).ok()?)?;
        if limit <= 0.0 || limit >= NO_LIMIT {
            return None;
        }
        Some(bytes(&kernel_file::read(&self.used).ok()?)? / limit)
    }
}

/// A number of bytes; no limit of version 2 is `max`.
fn bytes(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_limit_may_be_above_and_may_change() {
        let root = tempfile::tempdir().unwrap();
        let own = root.path().join("a/b");
        fs::create_dir_all(&own).unwrap();
        let write = |file: &str, text: &str| fs::write(root.path().join(file), text).unwrap();
        write("a/memory.limit_in_bytes", "9223372036854771712\n");
        write("a/memory.usage_in_bytes", "500\n");
        write("a/b/memory.max", "max\n");
        write("a/b/memory.current", "500\n");
        let limits = MemoryLimit::of(&own);
        let shares = || -> Vec<Option<f64>> { limits.iter().map(MemoryLimit::share).collect() };
        assert_eq!(shares(), [None, None]);
        write("a/memory.limit_in_bytes", "1000\n");
        assert_eq!(shares(), [None, Some(0.5)]);
        write("a/b/memory.max", "2000\n");
        assert_eq!(shares(), [Some(0.25), Some(0.5)]);
        write("a/b/memory.max", "0\n");
        assert_eq!(shares(), [None, Some(0.5)]);
    }
}
