//! The cost of an input to the executable that reads it: memory and instructions beyond those of a harmless input, and how much of either an
//! input of its size may cost. Which inputs there are is left to the checks.

pub mod instructions_of;

use crate::bar::Bar;
use crate::bench::{Bench, Error};
use crate::clock;
use crate::memory_of::{self, Memory};
use instructions_of::Callgrind;
use nix::sys::ptrace::{self, Event, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Bytes of memory for each byte of an input, and for any input.
pub const MEMORY: Line = Line {
    each: 16.0,
    any: 8.0 * 1024.0 * 1024.0,
};
/// Instructions for each byte of an input, and for any input.
pub const INSTRUCTIONS: Line = Line {
    each: 150.0,
    any: 3e8,
};

/// How long a command may take, counted by callgrind, too.
const LONGEST: Duration = Duration::from_secs(600);
/// How many times it is run until it is seen to end: one that ends before it is followed passes unseen.
const RUNS: usize = 3;
/// How often its end is looked for.
const LOOK: Duration = Duration::from_millis(2);

/// A bound that grows with the input.
pub struct Line {
    each: f64,
    any: f64,
}

/// The cost of an input.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// Bytes of the input.
    pub input: usize,
    /// Bytes of memory at the most, beyond what there was before.
    pub memory: f64,
    /// Instructions, beyond those of a harmless input.
    pub instructions: f64,
}

impl Line {
    fn at(&self, input: usize) -> f64 {
        self.each * input as f64 + self.any
    }
}

impl Cost {
    /// The row of an input.
    pub fn bar(&self, what: &str) -> Bar {
        let (memory, instructions) = (MEMORY.at(self.input), INSTRUCTIONS.at(self.input));
        Bar::judged(
            format!("{what}, {} kB", kilo(self.input as f64)),
            format!(
                "at most {} kB and {} million instructions",
                kilo(memory),
                mega(instructions)
            ),
            format!(
                "{} kB, {} million",
                kilo(self.memory),
                mega(self.instructions)
            ),
            self.memory <= memory && self.instructions <= instructions,
        )
    }
}

/// A row for each input, by the name that `what` gives it. Error with one leaves the others standing; being asked to stop ends them.
pub fn bars<I>(
    bench: &Bench,
    check: &str,
    inputs: Vec<I>,
    what: impl Fn(&I) -> &str,
    cost: impl Fn(&I) -> Result<Cost, Error>,
) -> Vec<Bar> {
    let mut bars = Vec::new();
    for input in &inputs {
        let what = what(input);
        bench.progress(&format!("{check}: {what}"));
        let measured = bench.witnessed(|| Ok(vec![cost(input)?.bar(what)]));
        let interrupted = matches!(measured.0, Err(Error::Interrupted));
        bars.extend(Bar::part(what, measured));
        if interrupted {
            break;
        }
    }
    bars
}

fn kilo(figure: f64) -> String {
    format!("{:.0}", figure.max(0.0) / 1e3)
}

fn mega(figure: f64) -> String {
    format!("{:.1}", figure.max(0.0) / 1e6)
}

/// The cost of a command such as `validate FILE`, beyond that with a harmless file. Its exit code does not matter: an input may be refused.
pub fn command(
    bench: &Bench,
    input: usize,
    arguments: &[&str],
    harmless: &[&str],
) -> Result<Cost, Error> {
    Callgrind::find()?;
    let memory = |words: &[&str]| largest(bench.plimsoll_under::<&str>(&[]).args(words));
    let instructions = |words: &[&str]| {
        let counted = Callgrind::below(&bench.directory()?);
        largest(bench.plimsoll_under(&counted.words()).args(words))?;
        counted.total()
    };
    Ok(Cost {
        input,
        memory: memory(arguments)? - memory(harmless)?,
        instructions: instructions(arguments)? - instructions(harmless)?,
    })
}

/// The most memory that a command ever had, in bytes.
fn largest(command: &mut Command) -> Result<f64, Error> {
    for _ in 0..RUNS {
        if let Some(kib) = seen(command)? {
            return Ok(kib * 1024.0);
        }
    }
    Err(Error::Measured("a command ended unseen".to_owned()))
}

/// The most memory of one run, in KiB: it is held for a moment when it is about to exit, and looked at then. `None`: it ended without that.
fn seen(command: &mut Command) -> Result<Option<f64>, Error> {
    let silent = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = silent
        .spawn()
        .map_err(|e| Error::io("starting a command", e))?;
    let id = rustix::process::Pid::from_child(&child);
    let pid = Pid::from_raw(id.as_raw_nonzero().get());
    let traced = |e: nix::Error| Error::Measured(format!("following a command: {e}"));
    if let Err(error) = ptrace::seize(pid, Options::PTRACE_O_TRACEEXIT) {
        // One that has ended cannot be followed.
        let ended = (child.try_wait()).map_err(|e| Error::io("waiting for a command", e))?;
        return ended.map(|_| None).ok_or_else(|| traced(error));
    }
    let deadline = clock::now() + LONGEST;
    let mut most = None;
    loop {
        match waitpid(pid, Some(WaitPidFlag::WNOHANG)).map_err(traced)? {
            WaitStatus::StillAlive if clock::now() > deadline => {
                child.kill().map_err(|e| Error::io("ending a command", e))?;
                return Err(Error::Measured("a command did not end".to_owned()));
            }
            WaitStatus::StillAlive => clock::pause(LOOK),
            WaitStatus::PtraceEvent(_, _, event) => {
                if event == Event::PTRACE_EVENT_EXIT as i32 {
                    most = memory_of::kib(id, Memory::LargestResident);
                }
                ptrace::cont(pid, None).map_err(traced)?;
            }
            WaitStatus::Stopped(_, signal) => {
                let passed = (signal != Signal::SIGTRAP).then_some(signal);
                ptrace::cont(pid, passed).map_err(traced)?;
            }
            WaitStatus::Exited(..) | WaitStatus::Signaled(..) => break,
            _ => {}
        }
    }
    Ok(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar::Verdict;

    #[test]
    fn an_input_may_cost_in_proportion() {
        let check = |input, memory, instructions, expected| {
            let cost = Cost {
                input,
                memory,
                instructions,
            };
            assert_eq!(cost.bar("deep").verdict, expected, "{cost:?}");
        };
        check(0, 8e6, 3e8, Verdict::Held);
        check(0, 9e6, 3e8, Verdict::Failed);
        check(0, 8e6, 3.1e8, Verdict::Failed);
        check(1_000_000, 24e6, 4.5e8, Verdict::Held);
        check(1_000_000, 25e6, 4.5e8, Verdict::Failed);
    }
}
