//! Takes turns: every round measures every side once, and each round begins with another side. A reading during which the machine stood
//! still is taken again.

use crate::bench::{Bench, Reading};
use crate::figures::statistics::Rounds;
use crate::{Error, interrupt, say};
use std::ops::Index;

/// A reading is taken again so often at most; then the least disturbed one stands.
const REPEATS: usize = 2;
/// Sides that no bar rests on, and figures that hardly differ between rounds, are measured in so many.
const FEWER_ROUNDS: usize = 3;

/// Memory hardly differs between rounds, and a machine that stands still does not move it.
pub const MEMORY: Turns = Turns {
    judged: 0,
    tolerated: 1.0,
};

/// How the sides of a comparison are measured.
#[derive(Debug, Clone, Copy)]
pub struct Turns {
    /// So many sides, the first ones, are measured in every round, the others in the first three.
    pub judged: usize,
    /// The share of a reading's time in which the machine may stand still.
    pub tolerated: f64,
}

/// A side with its readings of type `R`, round by round.
pub struct Side<R> {
    /// Its name in notes.
    pub name: String,
    /// The readings by round, of those rounds in which it was to be measured; `None` where that failed.
    pub readings: Vec<Option<R>>,
    /// Why the last one that failed did.
    pub error: Option<Error>,
    tally: Tally,
}

/// All sides of a comparison.
pub struct Sides<R> {
    sides: Vec<Side<R>>,
    tolerated: f64,
}

/// A count of one side's readings by their fate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Tally {
    /// Those that stand.
    stand: usize,
    /// Those that were set aside for a less disturbed one, or in the hope of one.
    set_aside: usize,
    /// Those that stand although they were disturbed.
    disturbed: usize,
    /// Those that came to nothing.
    failed: usize,
}

impl<R> Side<R> {
    /// One quantity of the readings, which not every reading need have.
    pub fn rounds<V: Into<Option<f64>>>(&self, quantity: impl Fn(&R) -> V) -> Rounds {
        let each = |reading: &Option<R>| quantity(reading.as_ref()?).into();
        self.readings.iter().map(each).collect()
    }

    /// Whether no round succeeded, and why.
    pub fn absent(&self) -> Option<String> {
        let none = self.readings.iter().all(Option::is_none);
        let reason = self.error.as_ref().map(ToString::to_string);
        none.then(|| reason.unwrap_or_default())
    }
}

impl<R: Copy, const N: usize> Side<[R; N]> {
    /// One of those that were measured together.
    pub fn part(&self, index: usize, name: &str) -> Side<R> {
        let of = |together: &Option<[R; N]>| together.map(|all| all[index]);
        Side {
            readings: self.readings.iter().map(of).collect(),
            error: self
                .error
                .as_ref()
                .map(|error| Error::Measured(error.to_string())),
            ..Side::of(name.to_owned())
        }
    }
}

impl<R> Sides<R> {
    /// In the order in which they were named.
    pub fn iter(&self) -> impl Iterator<Item = &Side<R>> {
        self.sides.iter()
    }

    /// The fate of the readings, for the foot of the table: how many stand, and of which sides others do not.
    pub fn note(&self) -> String {
        let percent = self.tolerated * 100.0;
        let stand: usize = self.iter().map(|side| side.tally.stand).sum();
        let mut note = format!("readings: {stand}");
        let still = format!("set aside, as the machine stood still for over {percent} % of them");
        let by_side = |of: fn(&Tally) -> usize| {
            counted(self.iter().map(|side| (&*side.name, of(&side.tally))))
        };
        let fates = [
            (&*still, by_side(|tally| tally.set_aside)),
            (
                "disturbed, but repeated to no avail",
                by_side(|tally| tally.disturbed),
            ),
            ("failed and left out", by_side(|tally| tally.failed)),
        ];
        for (fate, counts) in fates {
            if let Some(counts) = counts {
                note.push_str(&format!("; {fate}: {counts}"));
            }
        }
        note
    }
}

/// `NAME COUNT, …` of those sides that have something to count; `None` where none has.
pub fn counted<'a>(sides: impl Iterator<Item = (&'a str, usize)>) -> Option<String> {
    let some: Vec<String> = sides
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    (!some.is_empty()).then(|| some.join(", "))
}

impl<R> Index<usize> for Sides<R> {
    type Output = Side<R>;

    fn index(&self, index: usize) -> &Side<R> {
        &self.sides[index]
    }
}

/// Measures every side in every round. A side that is not installed is not tried again; other failures are, in the next round.
pub fn interleave<K: Copy, R>(
    bench: &Bench,
    kinds: &[K],
    turns: Turns,
    name: impl Fn(K) -> String,
    read: impl Fn(K) -> Result<Reading<R>, Error>,
) -> Result<Sides<R>, Error> {
    let mut sides: Vec<Side<R>> = kinds.iter().map(|kind| Side::of(name(*kind))).collect();
    // A second of the short form is too little to be choosy.
    let repeats = if bench.lengths.short { 0 } else { REPEATS };
    for round in 0..bench.lengths.rounds {
        bench.progress.round(round + 1, bench.lengths.rounds);
        for turn in 0..kinds.len() {
            let index = (round + turn) % kinds.len();
            let (side, kind) = (&mut sides[index], kinds[index]);
            if index >= turns.judged && round >= FEWER_ROUNDS {
                continue;
            }
            if matches!(side.error, Some(Error::Missing(_))) {
                side.readings.push(None);
                continue;
            }
            let taken = undisturbed(&mut side.tally, turns.tolerated, repeats, || read(kind));
            interrupt::check()?;
            match taken {
                Ok(reading) => side.readings.push(Some(reading)),
                Err(error) => {
                    say(&format!("  round {}: {error}", round + 1));
                    side.readings.push(None);
                    side.error = Some(error);
                }
            }
        }
    }
    let tolerated = turns.tolerated;
    Ok(Sides { sides, tolerated })
}

impl<R> Side<R> {
    /// A side before its first round.
    pub fn of(name: String) -> Self {
        Self {
            name,
            readings: Vec::new(),
            error: None,
            tally: Tally::default(),
        }
    }
}

/// Takes a reading, again while the machine stands still for longer than is tolerated; the least disturbed one. A repetition that fails
/// takes nothing from what there is.
fn undisturbed<R>(
    tally: &mut Tally,
    tolerated: f64,
    repeats: usize,
    read: impl Fn() -> Result<Reading<R>, Error>,
) -> Result<R, Error> {
    let mut best = read().inspect_err(|error| tally.count(error))?;
    for _ in 0..repeats {
        if best.lost <= tolerated {
            break;
        }
        match read() {
            Ok(next) => {
                tally.set_aside += 1;
                if next.lost < best.lost {
                    best = next;
                }
            }
            Err(error) => {
                say(&format!("  repetition: {error}"));
                tally.count(&error);
            }
        }
    }
    tally.stand += 1;
    if best.lost > tolerated {
        tally.disturbed += 1;
    }
    Ok(best.figures)
}

impl Tally {
    /// Counts a failure; what is not installed was never tried.
    fn count(&mut self, error: &Error) {
        if !matches!(error, Error::Missing(_)) {
            self.failed += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const TOLERATED: f64 = 0.02;

    /// Takes readings that lost these shares; `None` is one that fails. Which stands, and the tally.
    fn taken(lost: &[Option<f64>]) -> (Result<usize, Error>, Tally) {
        let mut tally = Tally::default();
        let next = Cell::new(0);
        let read = || {
            let figures = next.replace(next.get() + 1);
            let lost = lost[figures].ok_or_else(|| Error::Measured("failed".to_owned()))?;
            Ok(Reading { figures, lost })
        };
        let stands = undisturbed(&mut tally, TOLERATED, REPEATS, read);
        (stands, tally)
    }

    #[test]
    fn a_disturbed_reading_is_taken_again_and_the_least_disturbed_stands() {
        let check = |lost: &[Option<f64>], expected: usize, tally: [usize; 4]| {
            let [stand, set_aside, disturbed, failed] = tally;
            let tally = Tally {
                stand,
                set_aside,
                disturbed,
                failed,
            };
            let (stands, counted) = taken(lost);
            assert_eq!((stands.unwrap(), counted), (expected, tally), "{lost:?}");
        };
        check(&[Some(0.01)], 0, [1, 0, 0, 0]);
        check(&[Some(0.03), Some(0.0)], 1, [1, 1, 0, 0]);
        check(&[Some(0.05), Some(0.03), Some(0.04)], 1, [1, 2, 1, 0]);
        // A repetition that fails costs nothing but itself.
        check(&[Some(0.05), None, Some(0.01)], 2, [1, 1, 0, 1]);
        check(&[Some(0.05), None, None], 0, [1, 0, 1, 2]);
        let (stands, tally) = taken(&[None]);
        assert!(stands.is_err());
        assert_eq!((tally.stand, tally.failed), (0, 1));
    }

    #[test]
    fn the_note_counts_by_side() {
        let side = |name: &str, tally| Side::<()> {
            tally,
            ..Side::of(name.to_owned())
        };
        let calm = Tally {
            stand: 5,
            ..Tally::default()
        };
        let disturbed = Tally {
            set_aside: 3,
            disturbed: 1,
            failed: 2,
            ..calm
        };
        let note = |tally| {
            let sides = vec![side("plimsoll", calm), side("wrk", tally)];
            let tolerated = TOLERATED;
            Sides { sides, tolerated }.note()
        };
        assert_eq!(note(calm), "readings: 10");
        insta::assert_snapshot!(note(disturbed), @"readings: 10; set aside, as the machine stood still for over 2 % of them: wrk 3; disturbed, but repeated to no avail: wrk 1; failed and left out: wrk 2");
    }
}
