//! Facts from `/proc` on a program and everything below it: who they are, their processor time, their memory.

use rustix::process::Pid;
use std::time::Duration;

/// A process and every process below it.
pub fn tree(root: Pid) -> Vec<Pid> {
    let parents: Vec<(i32, i32)> = numbers("/proc")
        .filter_map(|pid| Some((pid, parent(pid)?)))
        .collect();
    let mut found = vec![root.as_raw_nonzero().get()];
    let mut next = 0;
    while let Some(&above) = found.get(next) {
        found.extend(parents.iter().filter(|(_, p)| *p == above).map(|(c, _)| *c));
        next += 1;
    }
    found.into_iter().filter_map(Pid::from_raw).collect()
}

/// Every process below one, with its arguments.
pub fn descendants(root: Pid) -> Vec<(Pid, Vec<String>)> {
    let below = tree(root).into_iter().skip(1);
    below.map(|pid| (pid, arguments(pid))).collect()
}

/// User and system time of all threads of a program and of everything below it, to the nanosecond. The time of a thread that has
/// ended is not in it: take differences over a time in which none ends.
pub fn processor_time(root: Pid) -> Duration {
    tree(root).into_iter().map(threads_time).sum()
}

/// Proportional set size of a program and everything below it, in megabytes (10⁶ bytes): resident memory, of which a page that several
/// processes share is counted in equal parts, so once among them all.
pub fn proportional_megabytes(root: Pid) -> f64 {
    let kibibytes: f64 = tree(root)
        .into_iter()
        .filter_map(proportional_kibibytes)
        .sum();
    kibibytes * 1024.0 / 1e6
}

fn threads_time(pid: Pid) -> Duration {
    let tasks = format!("/proc/{}/task", pid.as_raw_nonzero());
    numbers(&tasks)
        .filter_map(|thread| {
            let text = std::fs::read_to_string(format!("{tasks}/{thread}/schedstat")).ok()?;
            on_processor(&text)
        })
        .sum()
}

/// The first figure of `schedstat`: nanoseconds on a processor.
fn on_processor(schedstat: &str) -> Option<Duration> {
    let first = schedstat.split_whitespace().next()?;
    first.parse().ok().map(Duration::from_nanos)
}

fn proportional_kibibytes(pid: Pid) -> Option<f64> {
    let path = format!("/proc/{}/smaps_rollup", pid.as_raw_nonzero());
    proportional(&std::fs::read_to_string(path).ok()?)
}

/// The proportional set size in KiB.
fn proportional(smaps: &str) -> Option<f64> {
    let line = smaps.lines().find(|line| line.starts_with("Pss:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The entries of a directory whose names are numbers.
fn numbers(directory: &str) -> impl Iterator<Item = i32> {
    std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// The fourth field of `stat`; the second may hold spaces and brackets.
fn parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

fn arguments(pid: Pid) -> Vec<String> {
    let path = format!("/proc/{}/cmdline", pid.as_raw_nonzero());
    let bytes = std::fs::read(path).unwrap_or_default();
    let words = bytes.split(|byte| *byte == 0).filter(|w| !w.is_empty());
    words
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_on_a_processor_comes_first() {
        assert_eq!(
            on_processor("1500 20 3\n"),
            Some(Duration::from_nanos(1500))
        );
        assert_eq!(on_processor(""), None);
    }

    #[test]
    fn memory_is_in_kibibytes() {
        let smaps = "0-1 ---p 0 00:00 0 [rollup]\nRss:   99 kB\nPss:    12 kB\n";
        assert_eq!(proportional(smaps), Some(12.0));
    }

    #[test]
    fn a_process_is_in_its_own_tree_and_has_used_time() {
        let own = rustix::process::getpid();
        assert!(tree(own).contains(&own));
        assert!(processor_time(own) > Duration::ZERO);
        assert!(proportional_megabytes(own) > 0.0);
    }
}
