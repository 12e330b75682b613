//! Takes turns: every round measures every side once, and each round begins with another side.

use crate::bench::Bench;
use crate::statistics::Rounds;
use crate::trouble::Trouble;

/// What a side's readings of type `R` came to.
pub struct Side<R> {
    /// The readings by round; `None` where one failed.
    pub readings: Vec<Option<R>>,
    /// Why the last one that failed did.
    pub trouble: Option<Trouble>,
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
        let reason = self.trouble.as_ref().map(ToString::to_string);
        none.then(|| reason.unwrap_or_default())
    }
}

/// Measures every side in every round. A side that is not installed is not tried again; other failures are, in the next round.
pub fn interleave<K: Copy, R>(
    bench: &Bench,
    kinds: &[K],
    read: impl Fn(K) -> Result<R, Trouble>,
) -> Vec<Side<R>> {
    let mut sides: Vec<Side<R>> = kinds
        .iter()
        .map(|_| Side {
            readings: Vec::new(),
            trouble: None,
        })
        .collect();
    for round in 0..bench.rounds {
        for turn in 0..kinds.len() {
            let index = (round + turn) % kinds.len();
            let (side, kind) = (&mut sides[index], kinds[index]);
            if matches!(side.trouble, Some(Trouble::Missing(_))) {
                side.readings.push(None);
                continue;
            }
            match read(kind) {
                Ok(reading) => side.readings.push(Some(reading)),
                Err(trouble) => {
                    crate::say(&format!("  round {}: {trouble}", round + 1));
                    side.readings.push(None);
                    side.trouble = Some(trouble);
                }
            }
        }
    }
    sides
}
