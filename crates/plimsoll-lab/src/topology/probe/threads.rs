//! CPU time and time spent waiting for a CPU per thread, from `/proc/<pid>/task/<tid>/schedstat`.
//!
//! Kernels without scheduler statistics have no such file or only zeros; CPU time then comes from `stat`, in ticks, and
//! waiting is zero.

use super::process::{self, ProcessTotals};
use crate::kernel_file;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;

/// A thread: process id, thread id.
pub(super) type ThreadId = (u32, u32);

/// Totals by thread.
pub(super) type Threads = HashMap<ThreadId, ThreadTimes>;

/// Totals of one thread since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ThreadTimes {
    /// On a CPU, in nanoseconds.
    pub(super) running_ns: u64,
    /// Runnable without a CPU, in nanoseconds.
    pub(super) waiting_ns: u64,
}

impl ThreadTimes {
    /// Those since a look `before`. A thread that was not there counts from its start.
    pub(super) fn since(self, before: Option<&Self>) -> Self {
        let before = before.copied().unwrap_or_default();
        Self {
            running_ns: self.running_ns.saturating_sub(before.running_ns),
            waiting_ns: self.waiting_ns.saturating_sub(before.waiting_ns),
        }
    }
}

/// Adds what one of two looks, `length_s` seconds apart, left out: while threads end, the kernel may skip others. A thread that was there
/// before and lives is in the later look, too. One that is older than the time between them, or ended before that was asked, is in the
/// earlier look, too, as if it had not run since, which is not known.
pub(super) fn complete(
    before: &mut Threads,
    after: &mut Threads,
    length_s: f64,
    is_watched: impl Fn(u32) -> bool,
) {
    for thread in before.keys().filter(|thread| is_watched(thread.0)) {
        if let Entry::Vacant(left_out) = after.entry(*thread)
            && let Some(times) = times(*thread)
        {
            left_out.insert(times);
        }
    }
    for (thread, times) in after {
        if let Entry::Vacant(left_out) = before.entry(*thread)
            && totals(*thread).is_none_or(|totals| totals.is_older_than(length_s))
        {
            left_out.insert(*times);
        }
    }
}

/// The threads of a process that could be read, but for those named `except`.
pub(super) fn read_except(pid: u32, except: &str) -> Vec<(ThreadId, ThreadTimes)> {
    let mut threads = read(pid);
    threads.retain(|((_, tid), _)| !is_named(pid, *tid, except));
    threads
}

/// Whether a thread has this name. The kernel keeps 15 bytes of one.
fn is_named(pid: u32, tid: u32, name: &str) -> bool {
    let file = format!("/proc/{pid}/task/{tid}/comm");
    kernel_file::read(file).is_ok_and(|comm| comm.trim_end() == name)
}

/// The threads of a process that could be read.
pub(super) fn read(pid: u32) -> Vec<(ThreadId, ThreadTimes)> {
    let entries = fs::read_dir(format!("/proc/{pid}/task"));
    let entries = entries.into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let thread = (pid, entry.file_name().to_str()?.parse().ok()?);
            Some((thread, times(thread)?))
        })
        .collect()
}

/// The totals of a thread; `None` when it has ended.
fn times(thread: ThreadId) -> Option<ThreadTimes> {
    read_file(thread, "schedstat")
        .and_then(|schedstat| parse_schedstat(&schedstat))
        .filter(|times| times.running_ns > 0)
        .or_else(|| {
            Some(ThreadTimes {
                running_ns: totals(thread)?.running_ns,
                waiting_ns: 0,
            })
        })
}

/// Totals of a thread by its `stat`, in whole ticks.
fn totals(thread: ThreadId) -> Option<ProcessTotals> {
    let text = read_file(thread, "stat")?;
    process::parse(&text, rustix::param::clock_ticks_per_second())
}

fn read_file((pid, tid): ThreadId, file: &str) -> Option<String> {
    kernel_file::read(format!("/proc/{pid}/task/{tid}/{file}")).ok()
}

/// `running waiting slices`, the first two in nanoseconds (Documentation/scheduler/sched-stats.rst).
fn parse_schedstat(text: &str) -> Option<ThreadTimes> {
    let mut fields = text.split_ascii_whitespace();
    Some(ThreadTimes {
        running_ns: fields.next()?.parse().ok()?,
        waiting_ns: fields.next()?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_may_be_left_out_by_its_name() {
        let (here, stay) = std::sync::mpsc::channel();
        let (leave, left) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::Builder::new().name("left-out".to_owned());
        let thread = thread.spawn(move || {
            here.send(rustix::thread::gettid().as_raw_pid().cast_unsigned())
                .unwrap();
            left.recv().ok();
        });
        let thread = thread.unwrap();
        let (pid, tid) = (std::process::id(), stay.recv().unwrap());
        let is_there = |threads: Vec<(ThreadId, ThreadTimes)>| {
            threads.iter().any(|(thread, _)| *thread == (pid, tid))
        };
        assert!(is_there(read_except(pid, "canary")));
        assert!(!is_there(read_except(pid, "left-out")));
        drop(leave);
        thread.join().unwrap();
    }

    /// A thread whose process is not watched, and one that has ended, stay away; one that is new stays new.
    #[test]
    fn what_one_of_two_looks_left_out_is_in_both() {
        let own = std::process::id();
        let lives = (own, own);
        let gone = (own, u32::MAX);
        let times = ThreadTimes {
            running_ns: 7,
            waiting_ns: 1,
        };
        let of = |threads: &[ThreadId]| -> Threads {
            threads.iter().map(|&thread| (thread, times)).collect()
        };
        let check = |before: &[ThreadId], after: &[ThreadId], length_s, watched, expected| {
            let (mut before, mut after) = (of(before), of(after));
            complete(&mut before, &mut after, length_s, |_| watched);
            let has = |threads: &Threads| threads.contains_key(&lives);
            assert_eq!((has(&before), has(&after)), expected);
        };
        check(&[lives, gone], &[], 1.0, true, (true, true));
        check(&[lives, gone], &[], 1.0, false, (true, false));
        check(&[], &[lives], -1.0, true, (true, true));
        check(&[], &[lives], 1e9, true, (false, true));
        let (mut before, mut after) = (of(&[gone]), of(&[]));
        complete(&mut before, &mut after, 1.0, |_| true);
        assert!(after.is_empty(), "{after:?}");
    }

    #[test]
    fn captured_text() {
        let expected = |running_ns, waiting_ns| {
            Some(ThreadTimes {
                running_ns,
                waiting_ns,
            })
        };
        assert_eq!(
            parse_schedstat("9120467 45086 12\n"),
            expected(9_120_467, 45_086)
        );
        assert_eq!(parse_schedstat(""), None);
    }
}
