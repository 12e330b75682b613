//! Whether response times of levels drift with time: a leak or a warm-up that a table by rate would show as the rate's doing.
//!
//! Within a level the load is the same, so what changes there is not the rate's doing, unless a queue forms. So only levels are looked at
//! that leave it no room: rates of at most half of one that was sustained, at which a target is used by half at most. Numbers of users have no
//! such bound, for a queue of theirs is never longer than they are many.

use crate::record::{Drift, DriftDirection, GeneratorHealth, LevelDrift};
use crate::statistics::{ALWAYS_ALLOWED, Trend, quantile_interval};
use plimsoll_base::units::{format_number, format_seconds};

#[cfg(test)]
mod tests;

/// The share of a sustained rate up to which a rate cannot make a queue that lasts.
const USED: f64 = 0.5;
/// Fewer medians of a level show no trend.
const LEAST_PARTS: usize = 5;
/// A part is so many response times long, or its neighbours depend on it.
const PART: f64 = 20.0;
/// Standard deviations of a score in no order beyond which it is not chance.
const CHANCE: f64 = 3.3;
/// The share of the smallest median that all changes together must exceed: what any figure may be off by without a mark.
const ALLOWED: f64 = 0.1;

/// A level as it was held.
#[derive(Debug, Clone, Copy)]
pub struct Held<'a> {
    /// `50/s` or `20 users`.
    pub name: &'a str,
    /// In which turn of the run, from 1.
    pub turn: Option<u32>,
    /// `None` in the closed model.
    pub offered_per_s: Option<f64>,
    /// Measured seconds.
    pub seconds: f64,
    /// Whether the rate was sustained, if one was offered, and the median can carry a claim.
    pub stands: bool,
    /// Holds the times by halves and parts.
    pub health: &'a GeneratorHealth,
}

/// A level that was looked at.
struct Level<'a> {
    name: &'a str,
    trend: Trend,
    /// Medians of its halves in seconds.
    halves: (f64, f64),
    /// Whether the 95 % intervals of these do not meet.
    apart: bool,
    seconds: f64,
}

/// The drift of one arm; `None` where there is none, or none that can be told from chance or from a queue.
#[must_use]
pub fn judge(levels: &[Held<'_>]) -> Option<Drift> {
    let sustained = levels.iter().filter(|level| level.stands);
    let best = sustained.clone().filter_map(|level| level.offered_per_s);
    let best = best.fold(0.0, f64::max);
    let looked_at: Vec<Level> = sustained
        .filter(|level| level.offered_per_s.is_none_or(|rate| rate <= USED * best))
        .filter_map(look_at)
        .collect();
    let all = looked_at.iter().map(|level| level.trend);
    let all = all.fold(Trend::default(), Trend::and).deviations();
    let alone = looked_at.iter().map(|level| level.trend.deviations());
    let told: Vec<f64> = alone
        .chain([all])
        .filter(|found| found.abs() > CHANCE)
        .collect();
    let sign = told.first()?.signum();
    let goes = |by: f64| by * sign > 0.0;
    if !told.iter().all(|found| goes(*found)) || !matters(&looked_at) {
        return None;
    }
    let drifted: Vec<&Level> = looked_at
        .iter()
        .filter(|level| level.apart && goes(level.change()) && goes(level.trend.deviations()))
        .collect();
    if drifted.is_empty() {
        return None;
    }
    let direction = if sign > 0.0 {
        DriftDirection::Slower
    } else {
        DriftDirection::Faster
    };
    Some(Drift {
        direction,
        sentence: sentence(direction, &drifted, order(levels), best),
        levels: drifted.into_iter().map(Level::told).collect(),
        deviations: all,
    })
}

impl Level<'_> {
    fn change(&self) -> f64 {
        self.halves.1 - self.halves.0
    }

    fn told(&self) -> LevelDrift {
        LevelDrift {
            level: self.name.to_owned(),
            first_s: self.halves.0,
            second_s: self.halves.1,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few parts")]
fn look_at<'a>(level: &Held<'a>) -> Option<Level<'a>> {
    let medians = &level.health.medians;
    let halves = level.health.halves.as_ref()?;
    let first = quantile_interval(&halves.first, 0.5)?;
    let second = quantile_interval(&halves.second, 0.5)?;
    let halves = (halves.first.quantile(0.5)?, halves.second.quantile(0.5)?);
    let part = level.seconds / medians.len().max(1) as f64;
    if medians.len() < LEAST_PARTS || part < PART * halves.0.max(halves.1) {
        return None;
    }
    Some(Level {
        name: level.name,
        trend: Trend::of(medians),
        halves,
        apart: first.high < second.low || second.high < first.low,
        seconds: level.seconds,
    })
}

/// Whether all levels together changed by more than what any figure may be off by. The middles of two halves are half a level apart.
fn matters(levels: &[Level]) -> bool {
    let changed: f64 = levels.iter().map(|level| 2.0 * level.change()).sum();
    let medians = levels
        .iter()
        .map(|level| level.halves.0.min(level.halves.1));
    let smallest = medians.fold(f64::INFINITY, f64::min);
    changed.abs() > ALWAYS_ALLOWED.max(ALLOWED * smallest)
}

/// How levels followed each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Ascending,
    Drawn,
}

fn order(levels: &[Held<'_>]) -> Order {
    match levels.is_sorted_by_key(|level| level.turn) {
        true => Order::Ascending,
        false => Order::Drawn,
    }
}

fn sentence(direction: DriftDirection, drifted: &[&Level], order: Order, best: f64) -> String {
    let (got, grew, cause) = match direction {
        DriftDirection::Slower => (
            "slower",
            "grew",
            "Something fills or leaks, in the target, behind it or on its host",
        ),
        DriftDirection::Faster => (
            "faster",
            "shrank",
            "Something warms up, in the target, behind it or on its host",
        ),
    };
    let each = drifted.iter().map(|level| {
        let (first, second) = level.halves;
        format!(
            "by {} at {} ({} to {})",
            format_seconds(level.change().abs()),
            level.name,
            format_seconds(first),
            format_seconds(second)
        )
    });
    let each: Vec<String> = each.collect();
    let bound = match best > 0.0 {
        true => format!(
            "; at half of the {}/s that were sustained, or less, no queue lasts that would explain it",
            format_number(best)
        ),
        false => String::new(),
    };
    let order = match order {
        Order::Ascending => {
            "levels ran in ascending order, so what differs between them may be time's doing and not the load's: another order (`order: random` in `levels`) spreads it over them"
        }
        Order::Drawn => "levels ran in random order, so it is spread over them",
    };
    let longest = drifted.iter().map(|level| level.seconds.ceil());
    let longer = match direction {
        DriftDirection::Slower => String::new(),
        DriftDirection::Faster => format!(
            ", and a `warmup` that is {} s longer may leave it out",
            format_number(longest.fold(0.0, f64::max))
        ),
    };
    format!(
        "the target got {got} with time, not with its load: from the first half of a level to the second the median {grew} {}{bound}. {cause}; {order}{longer}",
        each.join(", ")
    )
}
