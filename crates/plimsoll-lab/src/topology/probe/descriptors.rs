//! Open descriptors of a process, from `/proc/<pid>/fd`, and their limit, from `/proc/<pid>/limits`.

use crate::kernel_file;
use std::fs;

/// How many descriptors are open; `None` when the process is gone or another user's.
pub(super) fn count(pid: u32) -> Option<u64> {
    let path = format!("/proc/{pid}/fd");
    // Since Linux 6.2 the directory's size is their number, which spares reading it.
    match fs::metadata(&path).ok()?.len() {
        0 => Some(fs::read_dir(&path).ok()?.count() as u64),
        count => Some(count),
    }
}

/// The share of its limit that a process uses; `None` when there is no limit, or no process.
#[expect(clippy::cast_precision_loss, reason = "a share")]
pub(super) fn share(pid: u32) -> Option<f64> {
    let limits = kernel_file::read(format!("/proc/{pid}/limits")).ok()?;
    Some(count(pid)? as f64 / limit(&limits)? as f64)
}

/// The soft limit in proc_pid_limits(5).
fn limit(limits: &str) -> Option<u64> {
    let mut lines = limits.lines();
    let line = lines.find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opening_a_file_counts() {
        let pid = std::process::id();
        assert!(count(pid).unwrap() >= 3);
        assert_eq!(count(0), None);
    }

    #[test]
    fn captured_text() {
        let check = |value: &str, expected| {
            let text = format!(
                "Limit  Soft  Hard  Units\nMax open files            {value}   files\nMax locked memory 1 1 bytes\n"
            );
            assert_eq!(limit(&text), expected);
        };
        check("1024                 1048576", Some(1024));
        check("unlimited            unlimited", None);
    }
}
