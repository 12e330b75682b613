//! CPU time and time spent waiting for a CPU per thread, from `/proc/<pid>/task/<tid>/schedstat`.
//!
//! Kernels without scheduler statistics have no such file or only zeros; CPU time then comes from `stat`, in ticks, and
//! waiting is zero.

use super::process;
use std::fs;
use std::time::Duration;

/// A thread: process id, thread id.
pub(super) type ThreadId = (u32, u32);

/// Totals of one thread since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ThreadTimes {
    /// On a CPU, in nanoseconds.
    pub(super) running_ns: u64,
    /// Runnable without a CPU, in nanoseconds.
    pub(super) waiting_ns: u64,
}

impl ThreadTimes {
    /// Those of an interval of `length_s` seconds. A thread that was not there `before` counts from its start, but with no more than the
    /// interval: it may be older, and only have been left out.
    pub(super) fn since(self, before: Option<&Self>, length_s: f64) -> Self {
        let Some(before) = before else {
            let most = Duration::from_secs_f64(length_s).as_nanos();
            let most = u64::try_from(most).unwrap_or(u64::MAX);
            return Self {
                running_ns: self.running_ns.min(most),
                waiting_ns: self.waiting_ns.min(most),
            };
        };
        Self {
            running_ns: self.running_ns.saturating_sub(before.running_ns),
            waiting_ns: self.waiting_ns.saturating_sub(before.waiting_ns),
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
    fs::read_to_string(file).is_ok_and(|comm| comm.trim_end() == name)
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
pub(super) fn times((pid, tid): ThreadId) -> Option<ThreadTimes> {
    let text = |file| fs::read_to_string(format!("/proc/{pid}/task/{tid}/{file}")).ok();
    text("schedstat")
        .and_then(|schedstat| parse_schedstat(&schedstat))
        .filter(|times| times.running_ns > 0)
        .or_else(|| parse_stat(&text("stat")?))
}

/// `running waiting slices`, the first two in nanoseconds (Documentation/scheduler/sched-stats.rst).
fn parse_schedstat(text: &str) -> Option<ThreadTimes> {
    let mut fields = text.split_ascii_whitespace();
    Some(ThreadTimes {
        running_ns: fields.next()?.parse().ok()?,
        waiting_ns: fields.next()?.parse().ok()?,
    })
}

/// Times of a thread from its own `stat`, in ticks.
fn parse_stat(text: &str) -> Option<ThreadTimes> {
    let totals = process::parse(text, rustix::param::clock_ticks_per_second())?;
    Some(ThreadTimes {
        running_ns: totals.running_ns,
        waiting_ns: 0,
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
