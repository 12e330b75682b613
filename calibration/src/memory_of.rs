//! The memory of a process as the kernel counts it, from `/proc/<pid>/status`.

use rustix::process::Pid;

/// A kind of memory.
#[derive(Debug, Clone, Copy)]
pub enum Memory {
    /// Resident memory, now.
    Resident,
    /// The most that ever was.
    LargestResident,
    /// The part of the resident memory that the process wrote: heap and stacks, without pages of files.
    Own,
}

/// It in KiB; nothing of a process that has ended.
pub fn kib(process: Pid, memory: Memory) -> Option<f64> {
    let path = format!("/proc/{}/status", process.as_raw_nonzero());
    parse(&std::fs::read_to_string(path).ok()?, memory)
}

fn parse(status: &str, memory: Memory) -> Option<f64> {
    let name = match memory {
        Memory::Resident => "VmRSS",
        Memory::LargestResident => "VmHWM",
        Memory::Own => "RssAnon",
    };
    let mut lines = status.lines().filter_map(|line| line.split_once(':'));
    let value = lines.find(|(key, _)| *key == name)?.1;
    value.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_from_a_process_s_status() {
        let status =
            "VmPeak:\t 9 kB\nVmHWM:\t   11556 kB\nVmRSS:\t 11000 kB\nRssAnon:\t    3304 kB\n";
        assert_eq!(parse(status, Memory::LargestResident), Some(11556.0));
        assert_eq!(parse(status, Memory::Resident), Some(11000.0));
        assert_eq!(parse(status, Memory::Own), Some(3304.0));
        assert_eq!(parse("VmPeak:\t 9 kB\n", Memory::Own), None);
    }
}
