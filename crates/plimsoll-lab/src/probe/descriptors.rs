//! Open descriptors of a process, from `/proc/<pid>/fd`.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opening_a_file_counts() {
        let pid = std::process::id();
        assert!(count(pid).unwrap() >= 3);
        assert_eq!(count(0), None);
    }
}
