//! `levels` of the file: rates or numbers of users, in order.

use plimsoll_base::document::{DurationText, Path as Pointer, RateText};
use plimsoll_base::random::{Draw, Stream};
use plimsoll_base::units::Rate;
use plimsoll_report::summarise::Level;
use std::time::Duration;

use super::default_warmup;
use crate::loader::Loader;
use crate::wire::{LevelOrderWire, LevelsWire, LoadWire, UsersWire};

/// More levels than any run has time for.
const MOST_LEVELS: usize = 100;

/// Rates or numbers of users, each held for some time.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// At least one, ascending.
    pub points: Vec<Point>,
    /// The measured time of each.
    pub hold: Duration,
    /// In which order they run.
    pub order: LevelOrder,
}

/// In which order levels run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelOrder {
    /// As they are written.
    Ascending,
    /// As the run's seed draws it.
    Random,
}

/// One level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Point {
    /// Iterations per second.
    Rate(Rate),
    /// Virtual users.
    Users(u32),
}

impl Point {
    /// Its name in paths of metrics: `50/s` or `20 users`.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Rate(rate) => format!("{}/s", rate.as_per_second()),
            Self::Users(users) => format!("{users} users"),
        }
    }

    fn size(self) -> f64 {
        match self {
            Self::Rate(rate) => rate.as_per_second(),
            Self::Users(users) => f64::from(users),
        }
    }
}

impl Levels {
    /// The levels in the order in which they run, each with its number from 1.
    #[must_use]
    pub fn turns(&self, seed: u64) -> Vec<(u32, Point)> {
        let mut turns: Vec<(u32, Point)> = (1..).zip(self.points.iter().copied()).collect();
        if self.order == LevelOrder::Random {
            // Blocks of a comparison count from 1.
            Draw::new(seed, Stream::Order, 0).shuffle(&mut turns);
        }
        turns
    }

    /// Their names in the report, by number from 1.
    #[must_use]
    pub fn named(&self, seed: u64) -> Vec<Level> {
        let turns = self.turns(seed);
        let named = (1_u32..).zip(&self.points).map(|(number, point)| Level {
            name: point.name(),
            users: match point {
                Point::Rate(_) => None,
                Point::Users(users) => Some(*users),
            },
            turn: (1_u32..)
                .zip(&turns)
                .find(|(_, (ran, _))| *ran == number)
                .map_or(number, |(turn, _)| turn),
        });
        named.collect()
    }
}

pub(super) fn convert(loader: &mut Loader<'_>, wire: &LevelsWire, at: &Pointer) -> Levels {
    let (key, points) = match (&wire.rates, &wire.users) {
        (Some(rates), None) => (
            "rates",
            rates.iter().map(|rate| Point::Rate(**rate)).collect(),
        ),
        (None, Some(users)) => ("users", users.iter().copied().map(Point::Users).collect()),
        (Some(_), Some(_)) => {
            let message = "`rates` says the levels already: keep one of them";
            loader.refuse_key(at.key("users"), message);
            ("users", Vec::new())
        }
        (None, None) => {
            loader.refuse(
                at,
                "says no levels: write `rates: [10/s, 50/s]` or `users: [10, 50]`",
            );
            ("rates", Vec::new())
        }
    };
    let written = wire.rates.is_some() != wire.users.is_some();
    check(loader, &points, &at.key(key), written);
    if wire.hold.is_zero() {
        loader.refuse(
            at.key("hold"),
            "must be longer than 0: write for instance `hold: 10s`",
        );
    }
    Levels {
        points,
        hold: *wire.hold,
        order: match wire.order {
            Some(LevelOrderWire::Random) => LevelOrder::Random,
            Some(LevelOrderWire::Ascending) | None => LevelOrder::Ascending,
        },
    }
}

fn check(loader: &mut Loader<'_>, points: &[Point], at: &Pointer, written: bool) {
    if points.is_empty() && written {
        loader.refuse(at, "names no level: write at least one");
    }
    if points.len() > MOST_LEVELS {
        let message = format!("names {} levels: write at most {MOST_LEVELS}", points.len());
        loader.refuse(at, message);
    }
    for (index, pair) in points.windows(2).enumerate() {
        if pair[1].size() <= pair[0].size() {
            let message = format!(
                "`{}` comes after `{}`: levels ascend, so that each is held against those below it; put them in order",
                pair[1].name(),
                pair[0].name()
            );
            loader.refuse(at.index(index + 1), message);
        }
    }
    for (index, point) in points.iter().enumerate() {
        if *point == Point::Users(0) {
            loader.refuse(at.index(index), "must be at least 1");
        }
    }
}

/// The load of the highest level.
pub(super) fn load(wire: &LevelsWire) -> Option<LoadWire> {
    let rates = wire.rates.iter().flatten();
    let rate = rates.max_by(|a, b| a.as_per_second().total_cmp(&b.as_per_second()));
    let users = wire.users.iter().flatten().max();
    if rate.is_none() && users.is_none() {
        return None;
    }
    Some(LoadWire {
        rate: rate.map(|rate| RateText(**rate)),
        users: users
            .filter(|_| rate.is_none())
            .map(|users| UsersWire::Number(*users)),
        duration: Some(DurationText(*wire.hold)),
        warmup: Some(DurationText(default_warmup(*wire.hold))),
        ..LoadWire::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(order: LevelOrder) -> Levels {
        Levels {
            points: (1..=5).map(Point::Users).collect(),
            hold: Duration::from_secs(1),
            order,
        }
    }

    fn numbers(order: LevelOrder, seed: u64) -> Vec<u32> {
        let turns = levels(order).turns(seed);
        turns.into_iter().map(|(number, _)| number).collect()
    }

    #[test]
    fn a_seed_draws_one_order_of_all_levels() {
        assert_eq!(numbers(LevelOrder::Ascending, 7), [1, 2, 3, 4, 5]);
        let drawn = numbers(LevelOrder::Random, 7);
        assert_eq!(drawn, numbers(LevelOrder::Random, 7));
        let others = (0..20).map(|seed| numbers(LevelOrder::Random, seed));
        assert!(others.into_iter().any(|other| other != drawn));
        let mut sorted = drawn;
        sorted.sort_unstable();
        assert_eq!(sorted, [1, 2, 3, 4, 5]);
    }

    /// Numbers go by size, turns by time.
    #[test]
    fn each_level_knows_its_turn() {
        for seed in 0..20 {
            let named = levels(LevelOrder::Random).named(seed);
            for (turn, number) in (1..).zip(numbers(LevelOrder::Random, seed)) {
                let level = &named[usize::try_from(number).unwrap() - 1];
                assert_eq!((level.users, level.turn), (Some(number), turn));
            }
        }
    }
}
