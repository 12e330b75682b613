//! The bench on which everything is compared: the executable, how long and how often, where programs run, scratch directories.

use crate::Error;
use crate::placement::Placement;
use crate::progress::Progress;
use crate::runner::Run;
use crate::witness::{Mark, Witness};
use crate::{clock, executable};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Rounds, unless told otherwise: the fewest of which a table is a result.
const ROUNDS: usize = 5;

/// The bench of every comparison: executable, witness, progress, placement, lengths.
pub struct Bench {
    /// The executable that is compared.
    pub plimsoll: PathBuf,
    /// The root of the sources.
    pub root: PathBuf,
    /// The witness of the machine's stalls.
    pub witness: Witness,
    /// How far it is.
    pub progress: Progress,
    /// Where programs run.
    pub placement: Placement,
    /// How long and how often.
    pub lengths: Lengths,
}

/// How long and how often everything is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lengths {
    /// How often each side is measured.
    pub rounds: usize,
    /// Whether figures mean nothing.
    pub short: bool,
}

impl Lengths {
    /// The shipped ones, but for the number of rounds.
    pub fn of(rounds: Option<usize>, short: bool) -> Self {
        Self {
            rounds: rounds.unwrap_or(if short { 2 } else { ROUNDS }),
            short,
        }
    }

    /// Whether figures of so much are worth keeping.
    pub fn are_enough(self) -> bool {
        !self.short && self.rounds >= ROUNDS
    }

    /// How long something is measured. What differs between rounds does so from start to start of a program, not within seconds.
    pub fn measured_time(self) -> Duration {
        Duration::from_secs(if self.short { 1 } else { 5 })
    }

    /// How long something runs before it is measured.
    pub fn lead(self) -> Duration {
        Duration::from_millis(if self.short { 500 } else { 1_500 })
    }

    /// How long a program that gets faster for a while runs before it is measured.
    pub fn long_lead(self) -> Duration {
        Duration::from_secs(if self.short { 4 } else { 60 })
    }
}

impl Bench {
    /// The bench of a run.
    pub fn of(run: Run, lengths: Lengths, progress: Progress) -> Result<Self, Error> {
        Ok(Self {
            plimsoll: run.plimsoll,
            root: executable::sources()?,
            witness: run.witness,
            progress,
            placement: Placement::of_this_host()?,
            lengths,
        })
    }

    /// How long something is measured.
    pub fn measured_time(&self) -> Duration {
        self.lengths.measured_time()
    }

    /// How long something runs before it is measured.
    pub fn lead(&self) -> Duration {
        self.lengths.lead()
    }

    /// Begins to watch whether the machine stands still.
    pub fn watch(&self) -> Watch<'_> {
        Watch {
            witness: &self.witness,
            mark: self.witness.mark(),
            begin: clock::now(),
        }
    }

    /// A fresh directory.
    pub fn directory(&self) -> Result<TempDir, Error> {
        tempfile::tempdir().map_err(Error::when("a scratch directory"))
    }
}

/// A look at the machine from a moment on.
pub struct Watch<'a> {
    witness: &'a Witness,
    mark: Mark,
    begin: Instant,
}

impl Watch<'_> {
    /// Something that was measured since, with the share of that time in which the machine stood still or gave its processors to others.
    pub fn ends<T>(self, figures: T) -> Reading<T> {
        let length = (clock::now() - self.begin).as_secs_f64();
        let still = self.witness.stood_still_since(&self.mark).as_secs_f64() / length;
        let stolen = self.witness.since(&self.mark).steal_share;
        Reading {
            figures,
            lost: still.max(stolen),
        }
    }
}

/// One reading of one side.
#[derive(Debug, Clone, Copy)]
pub struct Reading<T> {
    /// The measured figures.
    pub figures: T,
    /// The share of its time in which the machine was not there.
    pub lost: f64,
}

impl<T> Reading<T> {
    /// A reading of other figures that were made of these, over the same time.
    pub fn with<U>(&self, figures: U) -> Reading<U> {
        let lost = self.lost;
        Reading { figures, lost }
    }

    /// Whatever the machine did, where stillness changes nothing.
    pub fn unmoved(figures: T) -> Self {
        Self { figures, lost: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rounds_or_short_ones_are_no_result() {
        let check = |rounds, short, expected| {
            let lengths = Lengths::of(rounds, short);
            assert_eq!(lengths.are_enough(), expected, "{lengths:?}");
        };
        check(None, false, true);
        check(Some(8), false, true);
        check(Some(4), false, false);
        check(Some(1), false, false);
        check(Some(8), true, false);
    }
}
