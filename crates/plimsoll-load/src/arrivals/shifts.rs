//! When each user of the closed model is at work: pure functions of its rank among the users of its scenario.
//!
//! Where the number of users is *c(t)*, the user with rank *r*, counted from 0, is at work while *c(t) > r*. So who came last retires first,
//! and users of one rank work at the same times whatever the number of shards.

use crate::clock::{Nanos, nanos};
use crate::plan::Crowd;
use std::time::Duration;

/// A time in which a user is at work: iterations intended in it start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shift {
    pub(crate) begin: Nanos,
    pub(crate) end: Nanos,
    pub(crate) company: Company,
}

/// Who else begins in the same moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Company {
    /// Nobody: the number of users grows one by one.
    Alone,
    /// Perhaps others: the number of users jumps.
    Together,
}

/// The shifts of the user with this rank, in order.
pub(crate) fn shifts(crowds: &[Crowd], rank: u32) -> Vec<Shift> {
    let mut shifts: Vec<Shift> = Vec::new();
    let mut start = Duration::ZERO;
    for crowd in crowds {
        if let Some(mut shift) = within(*crowd, rank) {
            shift.begin += nanos(start);
            shift.end += nanos(start);
            match shifts.last_mut() {
                Some(last) if last.end == shift.begin => last.end = shift.end,
                _ => shifts.push(shift),
            }
        }
        start = start.saturating_add(crowd.length);
    }
    shifts
}

/// The shift within one stretch, from its start.
fn within(crowd: Crowd, rank: u32) -> Option<Shift> {
    let Crowd { from, to, length } = crowd;
    if from.max(to) <= rank || length.is_zero() {
        return None;
    }
    // Where a changing number passes the rank.
    let passes = || {
        let share = f64::from(rank.abs_diff(from)) / f64::from(to.abs_diff(from));
        nanos(length.mul_f64(share))
    };
    Some(if from > rank && to > rank || from == to {
        Shift {
            begin: 0,
            end: nanos(length),
            company: Company::Together,
        }
    } else if from > rank {
        Shift {
            begin: 0,
            end: passes(),
            company: Company::Together,
        }
    } else {
        Shift {
            begin: passes(),
            end: nanos(length),
            company: Company::Alone,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: Nanos = 1_000_000_000;

    fn crowd(from: u32, to: u32, seconds: u64) -> Crowd {
        Crowd {
            from,
            to,
            length: Duration::from_secs(seconds),
        }
    }

    /// In whole seconds.
    fn seconds(crowds: &[Crowd], rank: u32) -> Vec<(Nanos, Nanos, Company)> {
        shifts(crowds, rank)
            .iter()
            .map(|shift| (shift.begin / SECOND, shift.end / SECOND, shift.company))
            .collect()
    }

    #[test]
    fn users_come_and_go_one_by_one_and_together() {
        use Company::{Alone, Together};
        let up_and_down = [crowd(0, 10, 10), crowd(10, 10, 5), crowd(10, 0, 20)];
        assert_eq!(seconds(&up_and_down, 0), [(0, 35, Alone)]);
        assert_eq!(seconds(&up_and_down, 3), [(3, 29, Alone)]);
        assert_eq!(seconds(&up_and_down, 9), [(9, 17, Alone)]);
        assert_eq!(seconds(&up_and_down, 10), []);
        let levels = [
            crowd(2, 2, 5),
            crowd(4, 4, 5),
            crowd(1, 1, 5),
            crowd(3, 3, 5),
        ];
        assert_eq!(seconds(&levels, 0), [(0, 20, Together)]);
        assert_eq!(seconds(&levels, 1), [(0, 10, Together), (15, 20, Together)]);
        assert_eq!(seconds(&levels, 2), [(5, 10, Together), (15, 20, Together)]);
        assert_eq!(seconds(&levels, 3), [(5, 10, Together)]);
    }

    proptest! {
        /// At any moment as many users are at work as the number says, rounded up.
        #[test]
        fn as_many_are_at_work_as_there_should_be(
            crowds in prop::collection::vec((0..50_u32, 0..50_u32, 1..20_u64), 1..5),
            index in 0..4_usize,
            share in 0.0..1.0_f64,
        ) {
            let crowds: Vec<Crowd> = crowds.iter().map(|(from, to, length)| crowd(*from, *to, *length)).collect();
            let index = index % crowds.len();
            let before: Duration = crowds[..index].iter().map(|crowd| crowd.length).sum();
            let now = nanos(before + crowds[index].length.mul_f64(share));
            let number = f64::from(crowds[index].from) * (1.0 - share) + f64::from(crowds[index].to) * share;
            let at_work = (0..50)
                .filter(|rank| shifts(&crowds, *rank).iter().any(|shift| (shift.begin..shift.end).contains(&now)))
                .count() as f64;
            prop_assert!((at_work - number).abs() <= 1.0, "{at_work} {number}");
        }
    }
}
