//! An independent witness of the machine: one thread pinned to each processor wakes every millisecond and notes when it could not,
//! so that a stall of the machine is told from one of ours. What a stall means for a figure is left to who measures it.
//!
//! Its testimony depends on the post that the system gave it. At ordinary priority a busy program of ours makes gaps too, so they excuse
//! nothing; a processor that no thread watches is no evidence of quiet.

use crate::clock;
use crate::terminal::say;
use rustix::process::setpriority_process;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often each thread wakes.
const TICK: Duration = Duration::from_millis(1);
/// Gaps up to this are ordinary scheduling.
const GAP: Duration = Duration::from_millis(5);
/// A gap from which on the machine, and not its scheduler, stood still.
const STALL: Duration = Duration::from_millis(10);
/// A share of stolen time from which on the machine was not ours. Half of what criterion 5 allows: a clock tick more or less at the
/// edges of a short run must not decide.
const STEAL: f64 = 0.005;
/// Gaps that are kept, at most: months of a machine that stalls every ten seconds.
const MOST_GAPS: usize = 1_000_000;

/// The running witness; ends when dropped.
pub struct Witness {
    since: Instant,
    gaps: Arc<Mutex<Vec<Gap>>>,
    stop: Arc<AtomicBool>,
    watches: Vec<Watch>,
}

/// One processor's thread.
struct Watch {
    cpu: usize,
    thread: JoinHandle<()>,
    /// The post that the system gave it.
    post: Post,
    /// When it last ran, in microseconds since the witness started.
    ran_us: Arc<AtomicU64>,
}

/// The post that the system gave a thread of the witness.
enum Post {
    /// Its processor, and the highest ordinary priority.
    Full,
    /// Its processor; the reason why its priority is ordinary.
    Ordinary(String),
    /// The reason why it does not watch.
    Absent(String),
}

/// The standing of the witness as a whole: how much it can testify to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Standing {
    /// Gaps and steal on every processor.
    #[default]
    Full,
    /// Gaps may be our own programs' doing: only steal is the machine's.
    StealOnly,
    /// Some processor was not watched: quiet was not seen, and only steal is the machine's.
    Blind,
}

/// A processor on which a ready thread did not run.
#[derive(Debug, Clone, Copy)]
pub struct Gap {
    /// When it ran again.
    pub end: Instant,
    /// How long it had not.
    pub length: Duration,
}

/// A moment to look back to.
pub struct Mark {
    at: Instant,
    ticks: ProcessorTicks,
}

/// A report of the witness.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seen {
    /// Gaps longer than 5 ms, over all processors.
    pub gaps: usize,
    /// The longest of them in seconds.
    pub longest_s: f64,
    /// The share of processor time that the hypervisor gave to others.
    pub steal_share: f64,
    /// Its standing at that time.
    pub standing: Standing,
}

/// Processor time of the whole machine in clock ticks, from `/proc/stat`.
#[derive(Debug, Clone, Copy, Default)]
struct ProcessorTicks {
    all: f64,
    stolen: f64,
}

impl Witness {
    /// Starts one thread per processor that this process may use.
    pub fn start() -> std::io::Result<Self> {
        let gaps = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let allowed = sched_getaffinity(None)?;
        let cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
        let since = clock::now();
        let watches = cpus
            .map(|cpu| Watch::start(cpu, since, &gaps, &stop))
            .collect::<std::io::Result<_>>()?;
        Ok(Self {
            since,
            gaps,
            stop,
            watches,
        })
    }

    /// Its posts, for the table.
    pub fn post(&self) -> String {
        let wanting: Vec<String> = self
            .watches
            .iter()
            .filter_map(|watch| match &watch.post {
                Post::Full => None,
                Post::Ordinary(reason) => Some(format!(
                    "processor {}: at ordinary priority, so gaps excuse nothing ({reason})",
                    watch.cpu
                )),
                Post::Absent(reason) => Some(format!(
                    "processor {}: not watched, so nothing counts as quiet ({reason})",
                    watch.cpu
                )),
            })
            .collect();
        if wanting.is_empty() {
            return format!(
                "{} threads, each pinned to its processor, at the highest ordinary priority",
                self.watches.len()
            );
        }
        wanting.join("; ")
    }

    /// Its standing: as much as the least of its threads.
    fn standing(&self) -> Standing {
        let of = |watch: &Watch| match watch.post {
            Post::Full => Standing::Full,
            Post::Ordinary(_) => Standing::StealOnly,
            Post::Absent(_) => Standing::Blind,
        };
        let standings = self.watches.iter().map(of);
        standings.max().unwrap_or(Standing::Blind)
    }

    /// How long it has watched.
    pub fn age(&self) -> Duration {
        clock::now() - self.since
    }

    /// Now, to look back to with [`Self::since`].
    pub fn mark(&self) -> Mark {
        Mark {
            at: clock::now(),
            ticks: ProcessorTicks::read(),
        }
    }

    /// The gaps since a mark that disturb what is measured; none where a gap may be our own programs' doing.
    pub fn stalls_since(&self, mark: &Mark) -> Vec<Gap> {
        if self.standing() != Standing::Full {
            return Vec::new();
        }
        let mut gaps = self.gaps_since(mark);
        gaps.retain(|gap| gap.length >= STALL);
        gaps
    }

    /// For how long since a mark the machine did not give some processor its time; gaps of several processors that overlap count once.
    pub fn stood_still_since(&self, mark: &Mark) -> Duration {
        let stalls = self.stalls_since(mark);
        let spans = stalls.iter().filter_map(|gap| {
            let begin = gap.end.checked_sub(gap.length)?;
            Some((begin.max(mark.at), gap.end))
        });
        covered(spans.collect())
    }

    /// With those that have not ended: a thread that does not run now cannot say so itself.
    fn gaps_since(&self, mark: &Mark) -> Vec<Gap> {
        let gaps = self.gaps.lock().expect("invariant: no holder panics");
        let recent = gaps.iter().filter(|gap| gap.end > mark.at);
        let now = clock::now();
        let unfinished = self.watches.iter().filter_map(|watch| {
            let ran = self.since + Duration::from_micros(watch.ran_us.load(Ordering::Relaxed));
            let length = now.saturating_duration_since(ran);
            (length > GAP && !watch.is_absent()).then_some(Gap { end: now, length })
        });
        recent.copied().chain(unfinished).collect()
    }

    /// The report on the time since a mark.
    pub fn since(&self, mark: &Mark) -> Seen {
        let gaps = self.gaps_since(mark);
        let lengths = gaps.iter().map(|gap| gap.length);
        let (count, longest) = lengths.fold((0, Duration::ZERO), |(count, longest), length| {
            (count + 1, longest.max(length))
        });
        let now = ProcessorTicks::read();
        let all = now.all - mark.ticks.all;
        Seen {
            gaps: count,
            longest_s: longest.as_secs_f64(),
            steal_share: if all > 0.0 {
                (now.stolen - mark.ticks.stolen) / all
            } else {
                0.0
            },
            standing: self.standing(),
        }
    }
}

impl Watch {
    /// Starts a thread and waits until it says what it has.
    fn start(
        cpu: usize,
        since: Instant,
        gaps: &Arc<Mutex<Vec<Gap>>>,
        stop: &Arc<AtomicBool>,
    ) -> std::io::Result<Self> {
        let ran_us = Arc::new(AtomicU64::new(micros(clock::now() - since)));
        let (said, post) = sync_channel(1);
        let (gaps, stop, ran) = (Arc::clone(gaps), Arc::clone(stop), Arc::clone(&ran_us));
        let thread = std::thread::Builder::new()
            .name(format!("witness-{cpu}"))
            .spawn(move || {
                let post = take_post(cpu);
                let is_there = !matches!(post, Post::Absent(_));
                if said.send(post).is_ok() && is_there {
                    watch(since, &ran, &gaps, &stop);
                }
            })?;
        let post = post.recv().unwrap_or_else(|error| {
            let reason = format!("its thread ended at once: {error}");
            Post::Absent(reason)
        });
        Ok(Self {
            cpu,
            thread,
            post,
            ran_us,
        })
    }

    fn is_absent(&self) -> bool {
        matches!(self.post, Post::Absent(_))
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for watch in self.watches.drain(..) {
            if watch.thread.join().is_err() {
                say("a witness thread panicked");
            }
        }
    }
}

impl Seen {
    /// Whether the machine gave every processor its time throughout. A gap below 10 ms is what a scheduler makes of two busy processes
    /// on a processor, for instance when a run starts its own; it excuses nothing. Nobody knows it of a processor that was not watched.
    pub fn quiet(&self) -> bool {
        self.standing != Standing::Blind && !self.excuses()
    }

    /// Whether the machine was quiet for a reader who leaves out the times that stalls reach: hardly anything was stolen.
    pub fn quiet_but_for_stalls(&self) -> bool {
        self.standing != Standing::Blind && self.steal_share < STEAL
    }

    /// Whether the machine did not, which excuses a figure that misses its limit.
    pub fn excuses(&self) -> bool {
        let is_stalled = self.longest_s >= STALL.as_secs_f64();
        (is_stalled && self.standing == Standing::Full) || self.steal_share >= STEAL
    }

    /// In brackets behind a figure; nothing when all was quiet.
    pub fn aside(&self) -> String {
        if self.quiet() {
            String::new()
        } else {
            format!(" (machine: {self})")
        }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            gaps,
            longest_s,
            steal_share,
            standing,
        } = self;
        if *gaps > 0 {
            let s = if *gaps == 1 { "" } else { "s" };
            write!(f, "{gaps} gap{s} ≤ {:.0} ms, ", longest_s * 1e3)?;
        } else {
            f.write_str("no gap, ")?;
        }
        write!(f, "steal {:.2} %", steal_share * 100.0)?;
        match standing {
            Standing::Full | Standing::StealOnly => Ok(()),
            Standing::Blind => f.write_str(", not watched on every processor"),
        }
    }
}

/// Goes to a processor, before other threads, so that a busy program of ours is not taken for a stall.
fn take_post(cpu: usize) -> Post {
    let mut set = CpuSet::new();
    set.set(cpu);
    if let Err(error) = sched_setaffinity(None, &set) {
        return Post::Absent(format!("pinning: {error}"));
    }
    // Linux applies it to this thread only.
    match setpriority_process(None, -20) {
        Ok(()) => Post::Full,
        Err(error) => Post::Ordinary(format!("priority: {error}")),
    }
}

fn watch(since: Instant, ran_us: &AtomicU64, gaps: &Mutex<Vec<Gap>>, stop: &AtomicBool) {
    let mut last = clock::now();
    while !stop.load(Ordering::Relaxed) {
        clock::sleep(TICK);
        let now = clock::now();
        let length = now - last;
        last = now;
        if length > GAP {
            let mut gaps = gaps.lock().expect("invariant: no holder panics");
            if gaps.len() < MOST_GAPS {
                gaps.push(Gap { end: now, length });
            }
        }
        ran_us.store(micros(now - since), Ordering::Relaxed);
    }
}

/// How long at least one of several spans lasts.
fn covered(mut spans: Vec<(Instant, Instant)>) -> Duration {
    spans.sort_unstable();
    let mut total = Duration::ZERO;
    let mut reached: Option<Instant> = None;
    for (begin, end) in spans {
        let begin = reached.map_or(begin, |reached| begin.max(reached));
        total += end.saturating_duration_since(begin);
        reached = Some(reached.map_or(end, |reached| reached.max(end)));
    }
    total
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

impl ProcessorTicks {
    fn read() -> Self {
        std::fs::read_to_string("/proc/stat")
            .map(|text| Self::parse(&text))
            .unwrap_or_default()
    }

    /// The first line: `cpu user nice system idle iowait irq softirq steal …`. What follows is contained in user and nice.
    fn parse(text: &str) -> Self {
        let first = text.lines().next().unwrap_or_default();
        let ticks: Vec<f64> = first
            .split_whitespace()
            .skip(1)
            .take(8)
            .filter_map(|word| word.parse().ok())
            .collect();
        Self {
            all: ticks.iter().sum(),
            stolen: ticks.get(7).copied().unwrap_or(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_may_say_depends_on_its_post() {
        let check = |longest_s, steal_share, standing, quiet, excuses| {
            let seen = Seen {
                gaps: 1,
                longest_s,
                steal_share,
                standing,
            };
            assert_eq!((seen.quiet(), seen.excuses()), (quiet, excuses), "{seen:?}");
            let watched = standing != Standing::Blind;
            assert_eq!(seen.quiet_but_for_stalls(), watched && steal_share < 0.005);
        };
        check(0.006, 0.0, Standing::Full, true, false);
        check(0.060, 0.0, Standing::Full, false, true);
        check(0.006, 0.01, Standing::Full, false, true);
        check(0.060, 0.0, Standing::StealOnly, true, false);
        check(0.060, 0.01, Standing::StealOnly, false, true);
        check(0.006, 0.0, Standing::Blind, false, false);
        check(0.060, 0.0, Standing::Blind, false, false);
        check(0.006, 0.01, Standing::Blind, false, true);
    }

    #[test]
    fn spans_that_overlap_count_once() {
        let start = clock::now();
        let check = |spans: &[(u64, u64)], expected| {
            let at = |ms| start + Duration::from_millis(ms);
            let spans = spans.iter().map(|(begin, end)| (at(*begin), at(*end)));
            let expected = Duration::from_millis(expected);
            assert_eq!(covered(spans.collect()), expected);
        };
        check(&[], 0);
        check(&[(30, 40), (0, 10)], 20);
        check(&[(0, 50), (10, 60), (20, 30)], 60);
    }

    #[test]
    fn stolen_time_is_the_eighth_figure() {
        let ticks = ProcessorTicks::parse("cpu  1 2 3 4 5 6 7 8 100 200\ncpu0 1 1 1 1");
        assert!((ticks.all - 36.0).abs() < f64::EPSILON);
        assert!((ticks.stolen - 8.0).abs() < f64::EPSILON);
    }
}
