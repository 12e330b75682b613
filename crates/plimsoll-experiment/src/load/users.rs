//! Users of one stage of the closed model: a number, a ramp with or without a spawn rate, or level after level.

use std::time::Duration;

use plimsoll_load::plan::Crowd;

use super::stage::Stage;
use crate::loader::Loader;
use crate::wire::{UserChangeWire, UsersWire};

/// More levels than any load has stretches.
const MAX_LEVELS: u128 = 10_000;

pub(super) fn convert(
    loader: &mut Loader<'_>,
    stage: &Stage<'_>,
    users: &UsersWire,
) -> Option<Vec<Crowd>> {
    let wire = match users {
        UsersWire::Number(number) => {
            return Some(vec![crowd(*number, *number, stage.length(loader, None)?)]);
        }
        UsersWire::Change(wire) => wire,
    };
    let UserChangeWire {
        from,
        to,
        rate,
        step,
        every,
        levels,
    } = *wire;
    match (to, rate, step, every, levels) {
        (Some(to), None, None, None, None) => {
            Some(vec![crowd(from, to, stage.length(loader, None)?)])
        }
        (Some(to), Some(rate), None, None, None) => {
            let time = f64::from(to.abs_diff(from)) / rate.as_per_second();
            let own = Duration::try_from_secs_f64(time).unwrap_or(Duration::MAX);
            let left = stage.length(loader, Some(own))? - own;
            let parts = [crowd(from, to, own), crowd(to, to, left)];
            Some(
                parts
                    .into_iter()
                    .filter(|crowd| !crowd.length.is_zero())
                    .collect(),
            )
        }
        (None, None, Some(step), Some(every), levels) => {
            self::levels(loader, stage, (from, step), *every, levels)
        }
        _ => {
            let message = "is a number, or `from` and `to` (and perhaps `rate`), or `from`, `step` and `every` (and perhaps `levels`)";
            loader.refuse(stage.at.key("users"), message);
            None
        }
    }
}

/// Level after level, and the last one for what is left of the stage.
fn levels(
    loader: &mut Loader<'_>,
    stage: &Stage<'_>,
    (from, step): (u32, u32),
    every: Duration,
    levels: Option<u32>,
) -> Option<Vec<Crowd>> {
    let at = stage.at.key("users");
    if every < Duration::from_millis(1) {
        loader.refuse(at.key("every"), "must be at least 1ms");
        return None;
    }
    if levels == Some(0) {
        loader.refuse(at.key("levels"), "must be at least 1");
        return None;
    }
    let own = levels.map(|levels| every.saturating_mul(levels));
    let length = stage.length(loader, own)?;
    let fitting = length.as_nanos().div_ceil(every.as_nanos());
    let count = levels.map_or(fitting, u128::from);
    if count > MAX_LEVELS {
        let message = format!("makes {count} levels: at most {MAX_LEVELS} can be had");
        loader.refuse(
            at.key(if levels.is_some() { "levels" } else { "every" }),
            message,
        );
        return None;
    }
    let mut left = length;
    let mut users = from;
    let mut crowds = Vec::new();
    for level in 1..=count {
        let lasts = if level == count { left } else { every };
        crowds.push(crowd(users, users, lasts));
        left -= lasts;
        users = users.saturating_add(step);
    }
    Some(crowds)
}

fn crowd(from: u32, to: u32, length: Duration) -> Crowd {
    Crowd { from, to, length }
}
