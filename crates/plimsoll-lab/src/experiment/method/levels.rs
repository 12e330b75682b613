//! `levels` of the file: rates or numbers of users, in order.

use plimsoll_base::document::{DurationText, Path as Pointer, RateText};
use plimsoll_base::units::Rate;
use plimsoll_report::summarise::Level;
use std::time::Duration;

use super::default_warmup;
use crate::experiment::loader::Loader;
use crate::experiment::wire::{LevelsWire, LoadWire, UsersWire};

/// More levels than any run has time for.
const MOST_LEVELS: usize = 100;

/// Rates or numbers of users, each held for some time.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// At least one, ascending.
    pub points: Vec<Point>,
    /// The measured time of each.
    pub hold: Duration,
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
    /// What the report calls them, by number from 1.
    #[must_use]
    pub fn named(&self) -> Vec<Level> {
        let named = self.points.iter().map(|point| Level {
            name: point.name(),
            users: match point {
                Point::Rate(_) => None,
                Point::Users(users) => Some(*users),
            },
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
        loader.refuse(at.key("hold"), "is nothing: write for instance `hold: 10s`");
    }
    Levels {
        points,
        hold: *wire.hold,
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
            loader.refuse(at.index(index), "is nobody: write at least 1");
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
