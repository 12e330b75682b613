//! Outages that are tried: how the target fails, for whom, for how long and at which rate, spread evenly.

use crate::target::failing::How;
use std::time::Duration;

/// Rates per second; those of one rate are an experiment.
pub(super) const RATES: [u32; 2] = [150, 1_000];
const LENGTHS_MS: [u64; 5] = [10, 50, 200, 1_000, 5_000];
/// Of the accounts each so many-th is hit.
const EACH: [u32; 3] = [1, 3, 9];

/// One outage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) how: How,
    pub(super) each: u32,
    pub(super) length: Duration,
    pub(super) rate: u32,
}

impl Cell {
    /// Its row and its fault.
    pub(super) fn name(&self) -> String {
        let (word, length) = (self.how.word(), self.length.as_millis());
        format!("{word}-1-of-{}-for-{length}ms", self.each)
    }

    /// How many requests it hits in the mean.
    pub(super) fn hits(&self) -> f64 {
        self.length.as_secs_f64() * self.hit_per_s()
    }

    /// Requests per second of those whom it hits.
    pub(super) fn hit_per_s(&self) -> f64 {
        f64::from(self.rate) / f64::from(self.each)
    }
}

/// Of each length one for each share of accounts, and one refusal, which nobody escapes; at each rate half of them.
pub(super) fn all() -> Vec<Cell> {
    let lengths = LENGTHS_MS.into_iter().enumerate();
    let of_length = |(place, length): (usize, u64)| {
        let ways = [How::Unavailable, How::Silent];
        let alternate = [ways[place % ways.len()]];
        let ways = ways.into_iter().chain(alternate).enumerate();
        let partial = ways.map(move |(turn, how)| (how, EACH[(place + turn) % EACH.len()]));
        let all = partial.chain([(How::Refuses, 1)]).enumerate();
        all.map(move |(turn, (how, each))| Cell {
            how,
            each,
            length: Duration::from_millis(length),
            rate: RATES[(place + turn) % RATES.len()],
        })
    };
    lengths.flat_map(of_length).collect()
}

/// Those of them that a short form has: of each way to fail one that is neither short nor long.
pub(super) fn few(mut cells: Vec<Cell>) -> Vec<Cell> {
    cells.retain(|cell| (50..1_000).contains(&cell.length.as_millis()));
    cells.sort_by_key(|cell| cell.how.word());
    cells.dedup_by_key(|cell| cell.how);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_form_has_each_way_once() {
        for rate in RATES {
            let mut cells = all();
            cells.retain(|cell| cell.rate == rate);
            let ways: Vec<How> = few(cells).iter().map(|cell| cell.how).collect();
            assert_eq!(ways, [How::Refuses, How::Silent, How::Unavailable]);
        }
    }

    #[test]
    fn they_are_spread_evenly() {
        let cells = all();
        let count = |is: &dyn Fn(&Cell) -> bool| cells.iter().filter(|cell| is(cell)).count();
        assert_eq!(cells.len(), 20);
        for length in LENGTHS_MS.map(Duration::from_millis) {
            assert_eq!(count(&|cell| cell.length == length), 4);
            for each in EACH {
                assert!(count(&|cell| cell.length == length && cell.each == each) >= 1);
            }
        }
        for rate in RATES {
            assert_eq!(count(&|cell| cell.rate == rate), 10);
        }
        for how in [How::Unavailable, How::Silent, How::Refuses] {
            assert!(count(&|cell| cell.how == how) >= 5);
        }
        assert!(
            cells
                .iter()
                .all(|cell| cell.how != How::Refuses || cell.each == 1)
        );
        for cell in &cells {
            let same = |other: &Cell| other.name() == cell.name() && other.rate == cell.rate;
            assert_eq!(count(&same), 1, "{cell:?}");
        }
    }
}
