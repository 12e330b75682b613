//! Resident memory of a process, from `/proc/<pid>/statm`. Pages that processes share count once in each.

use crate::kernel_file;

/// Resident bytes; `None` when the process is gone.
pub(super) fn resident(pid: u32) -> Option<u64> {
    let text = kernel_file::read(format!("/proc/{pid}/statm")).ok()?;
    Some(resident_pages(&text)? * rustix::param::page_size() as u64)
}

/// The second field of proc_pid_statm(5).
fn resident_pages(statm: &str) -> Option<u64> {
    statm.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_text() {
        assert_eq!(resident_pages("765 388 370 5 0 95 0\n"), Some(388));
        assert_eq!(resident_pages(""), None);
    }
}
