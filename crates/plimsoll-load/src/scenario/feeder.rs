//! Feeders: rows of data, dealt to iterations.
//!
//! The rows are read once and shared by all shards, which mostly never talk about them: the iteration's number alone says which row it
//! gets. In the open model that is its place in the schedule, in the closed one `rounds × users + user`. So the same rows go to the same
//! iterations whatever the number of shards, and no row goes to two of them before all were dealt. An arrival that is dropped takes its
//! row with it.
//!
//! Iterations of several scenarios have numbers between those of which others may never come, so there the next row is dealt to who needs
//! one next ([`Dealing::Needed`]).

mod table;

pub(crate) use table::{Table, TableError};

use super::iteration::Iteration;
use crate::clock::Nanos;
use crate::fragment::FeederEnd;
use crate::plan::{AtEnd, Dealing, FeederPlan, Order};
use plimsoll_base::random::{Draw, Stream};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// One feeder, ready to deal.
#[derive(Debug)]
pub(crate) struct Feeder {
    pub(crate) name: String,
    /// Its place among those of the plan.
    pub(super) place: usize,
    table: Table,
    order: Order,
    at_end: AtEnd,
    /// The place of the next row in the order, where rows are dealt when they are needed; the only thing of it that shards share, for each
    /// row goes to one iteration.
    next: Option<AtomicU64>,
    /// When an iteration found no row, first as far as shards can tell.
    ended: OnceLock<Nanos>,
    /// In the order in which they are dealt; empty where that is the file's.
    shuffled: Vec<u32>,
}

/// Rows dealt to an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dealt {
    Row(u32),
    /// Nothing: every row was dealt, and none is dealt again.
    End,
}

impl Feeder {
    /// Reads the rows of a feeder; `place` is its place among all.
    ///
    /// # Errors
    /// Why they cannot be read.
    pub(crate) fn read(
        plan: &FeederPlan,
        seed: u64,
        place: usize,
        dealing: Dealing,
    ) -> Result<Self, TableError> {
        let table = Table::parse(plan.format, &plan.text)?;
        let mut shuffled = Vec::new();
        if plan.order == Order::Shuffled {
            shuffled = (0..table.rows()).collect();
            Draw::new(seed, Stream::Rows, place as u64).shuffle(&mut shuffled);
        }
        Ok(Self {
            name: plan.name.clone(),
            place,
            table,
            order: plan.order,
            at_end: plan.at_end,
            next: (dealing == Dealing::Needed && is_in_order(plan.order)).then(AtomicU64::default),
            ended: OnceLock::new(),
            shuffled,
        })
    }

    /// Whether iterations get rows only when they need some.
    pub(crate) fn is_dealt_when_needed(&self) -> bool {
        self.next.is_some()
    }

    /// The names of its columns.
    pub(crate) fn columns(&self) -> &[String] {
        self.table.columns()
    }

    /// How many rows it has.
    pub(crate) fn rows(&self) -> u32 {
        self.table.rows()
    }

    /// An iteration found no row at `now`.
    pub(crate) fn ran_out(&self, now: Nanos) {
        self.ended.get_or_init(|| now);
    }

    /// Whether it has come to its end, and the plan says that this must not be.
    pub(crate) fn has_failed(&self) -> bool {
        self.at_end == AtEnd::Error && self.ended.get().is_some()
    }

    /// Its end, if it has come to it.
    pub(crate) fn end(&self) -> Option<FeederEnd> {
        self.ended.get().map(|at| FeederEnd {
            feeder: self.name.clone(),
            rows: self.table.rows(),
            at_s: Duration::from_nanos(*at).as_secs_f64(),
            failed: self.has_failed(),
        })
    }

    pub(super) fn cell(&self, row: u32, column: usize) -> &[u8] {
        self.table.cell(row, column)
    }

    /// The row of an iteration.
    pub(super) fn deal(&self, seed: u64, place: usize, iteration: Iteration) -> Dealt {
        let rows = u64::from(self.table.rows());
        let wanted = match self.order {
            Order::Random => {
                // Streams of feeders lie 2^48 iterations apart.
                let key = iteration.number ^ ((place as u64 + 1) << 48);
                Draw::new(seed, Stream::Rows, key).below(rows)
            }
            Order::Sequential | Order::Shuffled => match &self.next {
                Some(next) => next.fetch_add(1, Ordering::Relaxed),
                None => iteration.number,
            },
            Order::Unique => iteration.user,
        };
        if wanted >= rows && self.at_end != AtEnd::Repeat {
            return Dealt::End;
        }
        let row = u32::try_from(wanted % rows).expect("invariant: rows are counted in 32 bits");
        Dealt::Row(self.shuffled.get(row as usize).copied().unwrap_or(row))
    }
}

/// Whether rows come one after the other.
fn is_in_order(order: Order) -> bool {
    matches!(order, Order::Sequential | Order::Shuffled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Format;

    fn feeder(rows: u32, order: Order, at_end: AtEnd) -> Feeder {
        let lines: Vec<String> = (0..rows).map(|row| row.to_string()).collect();
        let plan = FeederPlan {
            name: "f".to_owned(),
            format: Format::Csv,
            text: format!("id\n{}\n", lines.join("\n")),
            order,
            at_end,
        };
        Feeder::read(&plan, 7, 0, Dealing::Numbered).unwrap()
    }

    fn dealt(feeder: &Feeder, numbers: std::ops::Range<u64>) -> Vec<Option<u32>> {
        let deal = |number| {
            let iteration = Iteration {
                user: number % 3,
                count: number / 3,
                number,
            };
            match feeder.deal(7, 0, iteration) {
                Dealt::Row(row) => Some(row),
                Dealt::End => None,
            }
        };
        numbers.map(deal).collect()
    }

    #[test]
    fn rows_are_dealt_in_their_order() {
        let sequential = feeder(3, Order::Sequential, AtEnd::Repeat);
        assert_eq!(
            dealt(&sequential, 0..5),
            [Some(0), Some(1), Some(2), Some(0), Some(1)]
        );
        let ending = feeder(2, Order::Sequential, AtEnd::Stop);
        assert_eq!(dealt(&ending, 0..3), [Some(0), Some(1), None]);
        let unique = feeder(3, Order::Unique, AtEnd::Stop);
        assert_eq!(
            dealt(&unique, 0..6),
            [Some(0), Some(1), Some(2), Some(0), Some(1), Some(2)]
        );
    }

    #[test]
    fn every_row_is_dealt_once_before_any_is_again() {
        let shuffled = feeder(1000, Order::Shuffled, AtEnd::Repeat);
        let mut rows = dealt(&shuffled, 1000..2000);
        assert_ne!(rows, (0..1000).map(Some).collect::<Vec<_>>());
        rows.sort_unstable();
        assert_eq!(rows, (0..1000).map(Some).collect::<Vec<_>>());
    }

    /// Chi-square of 10,000 draws over 10 rows, 9 degrees of freedom: beyond 27.9 once in a thousand seeds.
    #[test]
    fn random_rows_are_uniform() {
        let random = feeder(10, Order::Random, AtEnd::Repeat);
        let mut counts = [0_u32; 10];
        for row in dealt(&random, 0..10_000).into_iter().flatten() {
            counts[row as usize] += 1;
        }
        let chi: f64 = counts
            .iter()
            .map(|count| (f64::from(*count) - 1000.0).powi(2) / 1000.0)
            .sum();
        assert!(chi < 27.9, "{chi}");
    }
}
