//! Notices when the generator itself stalled, from a thread of its own that shares nothing with the shards but one number each.
//!
//! A shard says by when it will next be at work; the watchdog wakes every 5 ms and looks. A shard that is overdue is blocked
//! or starved; a watchdog that wakes late shows that the whole process, or its machine, stalled. What that means for
//! the figures is left to others.

mod pulse;

pub(crate) use pulse::{Pulse, Watched, pulse};

use crate::clock::{Clock, Nanos, nanos};
use crate::fragment::Stalls;
use crate::results::recorder::{Report, SECOND, Side, WatchedSecond};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

/// How often the watchdog looks. A wake-up may take 25 µs of a virtual machine's processor, so that looking every millisecond would cost
/// 2.5 % of it.
const EVERY: Duration = Duration::from_millis(5);
/// From which length on standing still is a stall.
const STALL: Nanos = 5_000_000;

/// A watchdog that has not begun.
#[derive(Debug)]
pub(crate) struct Watchdog {
    /// The time of the load.
    pub(crate) clock: Clock,
    /// Where the warm-up ends.
    pub(crate) warmup: Nanos,
    /// One per shard.
    pub(crate) shards: Vec<Watched>,
    /// Its number among those that report: after every shard's and the canary's.
    pub(crate) number: usize,
    /// Where it reports.
    pub(crate) reports: SyncSender<Report>,
}

impl Watchdog {
    /// Watches from the start of the load until every shard has ended.
    pub(crate) fn watch(self) {
        let mut stall = Stall::default();
        let mut seen = WatchedSecond::default();
        let mut wake = 0;
        loop {
            self.clock.sleep_until(wake);
            let now = self.clock.now();
            // Asked first and left last: of a process that stalled at the very end, only this wake's own lateness tells.
            let is_over = self.shards.iter().all(Watched::has_ended);
            self.hand_over(&mut seen, now);
            let side = if now < self.warmup {
                Side::Warmup
            } else {
                Side::Measured
            };
            let shards = self.shards.iter().map(Watched::expected);
            let expected = shards.fold(wake, Nanos::min);
            stall.look(now, expected, &mut seen.sides[side as usize]);
            if is_over {
                break;
            }
            wake = now + nanos(EVERY);
        }
        for report in [Report::Watched(seen), Report::Done(self.number)] {
            if self.reports.send(report).is_err() {
                // The collector is gone, and with it whoever wanted to know.
                return;
            }
        }
    }

    /// Reports what was seen when its second is over. What is not taken stays, and goes with the next report.
    fn hand_over(&self, seen: &mut WatchedSecond, now: Nanos) {
        let second = u32::try_from(now / SECOND).unwrap_or(u32::MAX);
        if second == seen.second {
            return;
        }
        let over = WatchedSecond {
            second: second - 1,
            ..*seen
        };
        if self.reports.try_send(Report::Watched(over)).is_ok() {
            seen.sides = Default::default();
        }
        seen.second = second;
    }
}

/// A stall under way, if any.
#[derive(Debug, Default)]
struct Stall {
    since: Option<Nanos>,
    /// Up to where stalled time has been counted.
    counted: Nanos,
}

impl Stall {
    /// Someone should have been at work at `expected`, which is not after `now`; counts what is new of a stall.
    fn look(&mut self, now: Nanos, expected: Nanos, into: &mut Stalls) {
        if now.saturating_sub(expected) < STALL {
            self.since = None;
            return;
        }
        let since = self.since.unwrap_or(expected).min(expected);
        self.since = Some(since);
        into.total_s += seconds(now - expected.max(self.counted));
        into.longest_s = into.longest_s.max(seconds(now - since));
        self.counted = now;
    }
}

fn seconds(time: Nanos) -> f64 {
    Duration::from_nanos(time).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;

    const MS: Nanos = 1_000_000;

    #[test]
    fn stalls_are_counted_once_and_measured_whole() {
        let check = |looks: &[(u64, u64)], expected: (f64, f64)| {
            let mut stall = Stall::default();
            let mut seen = Stalls::default();
            for (now, expected) in looks {
                stall.look(now * MS, expected * MS, &mut seen);
            }
            let micros = |time: f64| (time * 1e6).round() / 1e6;
            assert_eq!(
                (micros(seen.longest_s), micros(seen.total_s)),
                expected,
                "{looks:?}"
            );
        };
        check(&[(1, 1), (4, 2)], (0.0, 0.0));
        check(&[(1, 1), (202, 2), (203, 203)], (0.2, 0.2));
        // A shard is overdue from 10 on, while the watchdog itself is punctual.
        check(&[(14, 10), (15, 10), (16, 10), (17, 17)], (0.006, 0.006));
        // Two stalls, the second longer.
        check(&[(10, 5), (11, 11), (30, 20)], (0.01, 0.015));
        // A second shard overdue for longer adds to the length, not to the time counted already.
        check(&[(20, 15), (21, 12)], (0.009, 0.006));
    }

    /// The process stalled until after the end of its only shard, which ended before the watchdog could look again.
    #[test]
    fn standing_still_at_the_very_end_is_seen() {
        let clock = Clock::starting_in(Duration::ZERO);
        let (shard, watched) = pulse();
        drop(shard);
        clock.sleep_until(20 * MS);
        let (reports, received) = sync_channel(100);
        let watchdog = Watchdog {
            clock,
            warmup: 0,
            shards: vec![watched],
            number: 1,
            reports,
        };
        watchdog.watch();
        let Ok(Report::Watched(seen)) = received.recv() else {
            panic!("the watchdog says nothing");
        };
        let stalls = seen.sides[Side::Measured as usize];
        assert!(stalls.longest_s >= 0.02, "{stalls:?}");
    }

    #[test]
    fn a_shard_that_does_not_come_back_is_seen() {
        let clock = Clock::starting_in(Duration::ZERO);
        let (shard, watched) = pulse();
        shard.expect(0);
        let (reports, received) = sync_channel(100);
        let watchdog = Watchdog {
            clock,
            warmup: 0,
            shards: vec![watched],
            number: 1,
            reports,
        };
        let watching = std::thread::spawn(move || watchdog.watch());
        // What it says first is about a second that is over: it has looked.
        let first = received.recv().unwrap();
        drop(shard);
        watching.join().unwrap();
        let longest = std::iter::once(first)
            .chain(&received)
            .map(|report| match report {
                Report::Watched(second) => second.sides[Side::Measured as usize].longest_s,
                _ => 0.0,
            });
        assert!(longest.fold(0.0, f64::max) > 0.5);
    }
}
