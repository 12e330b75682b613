//! Kinds of stages: each a stretch of arrivals or a crowd of users.

use std::time::Duration;

use plimsoll_base::document::list;
use plimsoll_load::plan::{Crowd, Profile, Stretch};

use super::stage::Stage;
use super::{replay, users};
use crate::loader::Loader;
use crate::wire::{StageWire, StaircaseWire};

/// A stage's part of the load.
pub(super) enum StageLoad {
    Open(Vec<Stretch>),
    Closed(Vec<Crowd>),
    /// Nothing, in either model.
    Nothing(Duration),
}

impl StageLoad {
    pub(super) fn length(&self) -> Duration {
        let sum = |lengths: &mut dyn Iterator<Item = Duration>| {
            lengths.fold(Duration::ZERO, Duration::saturating_add)
        };
        match self {
            Self::Open(stretches) => sum(&mut stretches.iter().map(|stretch| stretch.length)),
            Self::Closed(crowds) => sum(&mut crowds.iter().map(|crowd| crowd.length)),
            Self::Nothing(length) => *length,
        }
    }
}

/// The key that says what happens in a stage, where there is exactly one.
pub(super) fn kind(wire: &StageWire) -> Option<&'static str> {
    match kinds(wire)[..] {
        [kind] => Some(kind),
        _ => None,
    }
}

fn kinds(wire: &StageWire) -> Vec<&'static str> {
    let keys = [
        ("rate", wire.rate.is_some()),
        ("ramp", wire.ramp.is_some()),
        ("staircase", wire.staircase.is_some()),
        ("stress_peak", wire.stress_peak.is_some()),
        ("at_once", wire.at_once.is_some()),
        ("replay", wire.replay.is_some()),
        ("users", wire.users.is_some()),
        ("nothing", wire.nothing.is_some()),
    ];
    let present = keys.iter().filter(|(_, present)| *present);
    present.map(|(key, _)| *key).collect()
}

/// `None`, with a problem noted, when it cannot be had.
pub(super) fn convert(loader: &mut Loader<'_>, stage: &Stage<'_>) -> Option<StageLoad> {
    let wire = stage.wire;
    match kinds(wire)[..] {
        [] => {
            let all = [
                "rate",
                "ramp",
                "staircase",
                "stress_peak",
                "at_once",
                "replay",
                "users",
                "nothing",
            ];
            let all = list(&all.map(str::to_owned));
            loader.refuse(
                &stage.at,
                format!("does not say what happens in it: write one of {all}"),
            );
            return None;
        }
        [first, second, ..] => {
            let message =
                format!("`{first}` says already what happens in this stage: make two stages of it");
            loader.refuse_key(stage.at.key(second), message);
            return None;
        }
        [_] => {}
    }
    if let Some(users) = &wire.users {
        stage.refuse(loader, &["profile"], "`users`");
        return users::convert(loader, stage, users).map(StageLoad::Closed);
    }
    if let Some(length) = wire.nothing {
        stage.refuse(
            loader,
            &["profile", "for"],
            "`nothing`, which has a length itself",
        );
        if length.is_zero() {
            loader.refuse(stage.at.key("nothing"), "must be longer than 0");
            return None;
        }
        return Some(StageLoad::Nothing(*length));
    }
    open(loader, stage).map(StageLoad::Open)
}

fn open(loader: &mut Loader<'_>, stage: &Stage<'_>) -> Option<Vec<Stretch>> {
    let wire = stage.wire;
    let profile = if let Some(staircase) = wire.staircase {
        return self::staircase(loader, stage, staircase);
    } else if let Some(rate) = wire.rate {
        Profile::Constant {
            rate: rate.as_per_second(),
        }
    } else if let Some(ramp) = wire.ramp {
        Profile::Ramp {
            from: *ramp.from,
            to: *ramp.to,
        }
    } else if let Some(arrivals) = wire.stress_peak {
        Profile::StressPeak { arrivals }
    } else if let Some(arrivals) = wire.at_once {
        stage.refuse(
            loader,
            &["profile", "for"],
            "`at_once`, which takes no time",
        );
        return Some(vec![Profile::AtOnce { arrivals }.lasting(Duration::ZERO)]);
    } else {
        stage.refuse(loader, &["profile"], "`replay`");
        let lasts = match stage.lasts {
            Some(_) => Some(stage.length(loader, None)?),
            None => None,
        };
        let times = replay::read(loader, &stage.at.key("replay"), wire.replay.as_deref()?)?;
        return Some(vec![replayed(times, lasts)]);
    };
    Some(vec![stage.stretch(profile, stage.length(loader, None)?)])
}

/// The last arrival belongs to the stage, so that it lasts until the next whole millisecond after it.
fn replayed(times: Vec<u64>, lasts: Option<Duration>) -> Stretch {
    const MILLISECOND: u64 = 1_000_000;
    let last = times.last().copied().unwrap_or(0);
    let own = Duration::from_millis(last / MILLISECOND + 1);
    let times = times.into();
    Profile::Replay { times }.lasting(lasts.unwrap_or(own))
}

/// The levels, and the last one for what is left of the stage.
fn staircase(
    loader: &mut Loader<'_>,
    stage: &Stage<'_>,
    wire: StaircaseWire,
) -> Option<Vec<Stretch>> {
    let (from, step, every) = (*wire.from, wire.step.as_per_second(), *wire.every);
    let profile = Profile::Staircase { from, step, every };
    let Some(levels) = wire.levels else {
        return Some(vec![stage.stretch(profile, stage.length(loader, None)?)]);
    };
    let at = stage.at.key("staircase");
    if levels == 0 {
        loader.refuse(at.key("levels"), "must be at least 1");
        return None;
    }
    if every.is_zero() {
        loader.refuse(at.key("every"), "must be at least 1ms");
        return None;
    }
    let own = every.saturating_mul(levels);
    let left = stage.length(loader, Some(own))? - own;
    let mut stretches = vec![stage.stretch(profile, own)];
    if !left.is_zero() {
        let rate = from + step * f64::from(levels - 1);
        stretches.push(stage.stretch(Profile::Constant { rate }, left));
    }
    Some(stretches)
}
