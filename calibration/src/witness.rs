//! An independent witness of the machine: one thread pinned to each processor wakes every millisecond and notes when it could not,
//! so that a stall of the machine is told from one of ours. What a stall means for a bar is left to the check.

use crate::clock;
use rustix::process::setpriority_process;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often each thread wakes.
const TICK: Duration = Duration::from_millis(1);
/// Gaps up to this are ordinary scheduling.
const GAP: Duration = Duration::from_millis(5);
/// A gap from which on the machine, and not its scheduler, stood still.
const STALL: Duration = Duration::from_millis(10);
/// Gaps that are kept, at most: months of a machine that stalls every ten seconds.
const MOST_GAPS: usize = 1_000_000;

/// The running witness; ends when dropped.
pub struct Witness {
    since: Instant,
    gaps: Arc<Mutex<Vec<Gap>>>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
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

/// What the witness saw.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seen {
    /// Gaps longer than 5 ms, over all processors.
    pub gaps: usize,
    /// The longest of them in seconds.
    pub longest_s: f64,
    /// The share of processor time that the hypervisor gave to others.
    pub steal_share: f64,
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
        let spawn = |cpu| {
            let (gaps, stop) = (Arc::clone(&gaps), Arc::clone(&stop));
            std::thread::Builder::new()
                .name(format!("witness-{cpu}"))
                .spawn(move || watch(cpu, &gaps, &stop))
        };
        let threads = cpus.map(spawn).collect::<std::io::Result<_>>()?;
        Ok(Self {
            since: clock::now(),
            gaps,
            stop,
            threads,
        })
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

    /// The gaps since a mark that disturb what is measured.
    pub fn stalls_since(&self, mark: &Mark) -> Vec<Gap> {
        let mut gaps = self.gaps_since(mark);
        gaps.retain(|gap| gap.length >= STALL);
        gaps
    }

    fn gaps_since(&self, mark: &Mark) -> Vec<Gap> {
        let gaps = self.gaps.lock().expect("invariant: no holder panics");
        let recent = gaps.iter().filter(|gap| gap.end > mark.at);
        recent.copied().collect()
    }

    /// What was seen since a mark.
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
        }
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                crate::say("calibration: a witness thread panicked");
            }
        }
    }
}

impl Seen {
    /// Whether the machine gave every processor its time throughout. A gap below 10 ms is what a scheduler makes of two busy processes
    /// on a processor, for instance when a run starts its own; it excuses nothing. Half of the steal that criterion 5 allows: a clock
    /// tick more or less at the edges of a short run must not decide.
    pub fn quiet(&self) -> bool {
        self.longest_s < STALL.as_secs_f64() && self.steal_share < 0.005
    }

    /// Whether what it saw excuses a figure that misses its limit.
    pub fn excuses(&self) -> bool {
        !self.quiet()
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
        } = self;
        if *gaps > 0 {
            let s = if *gaps == 1 { "" } else { "s" };
            write!(f, "{gaps} gap{s} ≤ {:.0} ms, ", longest_s * 1e3)?;
        } else {
            f.write_str("no gap, ")?;
        }
        write!(f, "steal {:.2} %", steal_share * 100.0)
    }
}

fn watch(cpu: usize, gaps: &Mutex<Vec<Gap>>, stop: &AtomicBool) {
    let mut set = CpuSet::new();
    set.set(cpu);
    if let Err(error) = sched_setaffinity(None, &set) {
        crate::say(&format!("calibration: witness of processor {cpu}: {error}"));
        return;
    }
    // Before other threads, so that a busy program of ours is not taken for a stall. Linux applies it to this thread only.
    if let Err(error) = setpriority_process(None, -20) {
        crate::say(&format!(
            "calibration: witness of processor {cpu} runs at ordinary priority: {error}"
        ));
    }
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
    }
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
    fn stolen_time_is_the_eighth_figure() {
        let ticks = ProcessorTicks::parse("cpu  1 2 3 4 5 6 7 8 100 200\ncpu0 1 1 1 1");
        assert!((ticks.all - 36.0).abs() < f64::EPSILON);
        assert!((ticks.stolen - 8.0).abs() < f64::EPSILON);
    }
}
