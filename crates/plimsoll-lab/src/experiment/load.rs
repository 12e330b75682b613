//! Load of one arm: the common `load` with the arm's own fields over it, and what the fields mean together.

use std::time::Duration;

use plimsoll_base::document::Path as Pointer;
use plimsoll_load::plan::{ConnectionPolicy, Load, Pacing, Profile};

use super::loader::Loader;
use super::wire::{ArrivalWire, LoadWire, PacingWire};

/// How much load, when, and by which means.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadSettings {
    /// The model with its arrivals or users.
    pub load: Load,
    /// Load before the measurement.
    pub warmup: Duration,
    /// The measured time, after the warm-up.
    pub duration: Duration,
    /// When a virtual user opens a connection.
    pub connections: ConnectionPolicy,
    /// How exactly intended starts are kept.
    pub pacing: Pacing,
    /// How long an exchange may take unless its step says otherwise.
    pub timeout: Duration,
}

const CONNECTIONS: u32 = 50;
const QUEUE: u32 = 10_000;
const TIMEOUT: Duration = Duration::from_secs(10);

/// The load of one arm as written in up to two places.
#[derive(Clone, Copy)]
pub(super) struct Layers<'a> {
    common: (&'a LoadWire, &'a Pointer),
    own: Option<(&'a LoadWire, &'a Pointer)>,
}

impl<'a> Layers<'a> {
    pub fn new(
        common: (&'a LoadWire, &'a Pointer),
        own: Option<(&'a LoadWire, &'a Pointer)>,
    ) -> Self {
        Self { common, own }
    }

    /// The value that applies, with the place where it is written.
    pub fn get<T>(
        &self,
        key: &str,
        field: impl Fn(&'a LoadWire) -> Option<T>,
    ) -> Option<(T, Pointer)> {
        let from =
            |(wire, at): (&'a LoadWire, &Pointer)| field(wire).map(|value| (value, at.key(key)));
        self.own.and_then(from).or_else(|| from(self.common))
    }

    /// Where `key` is written: by the arm, else in common.
    pub fn place(&self, loader: &Loader<'_>, key: &str) -> Pointer {
        let own = self
            .own
            .map(|(_, at)| at.key(key))
            .filter(|at| loader.is_written(at));
        own.unwrap_or_else(|| self.common.1.key(key))
    }

    /// The layer that says how arrivals come about, and with it the model; the innermost that does.
    fn arrivals(&self) -> (&'a LoadWire, &'a Pointer) {
        self.own
            .filter(|(wire, _)| !models(wire).is_empty())
            .unwrap_or(self.common)
    }

    /// Where a missing field is reported.
    fn at(&self) -> &'a Pointer {
        self.common.1
    }
}

/// Keys that choose how arrivals come about.
fn models(wire: &LoadWire) -> Vec<&'static str> {
    let keys = [
        ("rate", wire.rate.is_some()),
        ("ramp", wire.ramp.is_some()),
        ("staircase", wire.staircase.is_some()),
        ("users", wire.users.is_some()),
    ];
    keys.iter()
        .filter(|(_, present)| *present)
        .map(|(key, _)| *key)
        .collect()
}

pub(super) fn convert(loader: &mut Loader<'_>, layers: Layers<'_>) -> Option<LoadSettings> {
    let duration = layers.get("duration", |wire| wire.duration);
    if duration.is_none() {
        loader.refuse(
            layers.at().key("duration"),
            "is missing: write for instance `duration: 30s`",
        );
    }
    let load = convert_model(loader, layers);
    Some(LoadSettings {
        load: load?,
        duration: *duration?.0,
        warmup: layers
            .get("warmup", |wire| wire.warmup)
            .map_or(Duration::ZERO, |(warmup, _)| *warmup),
        connections: match layers.get("keep_alive", |wire| wire.keep_alive) {
            Some((false, _)) => ConnectionPolicy::PerExchange,
            _ => ConnectionPolicy::KeepAlive,
        },
        pacing: match layers.get("pacing", |wire| wire.pacing) {
            None => Pacing::default(),
            Some((PacingWire::Precise, _)) => Pacing::Precise,
            Some((PacingWire::Gap(gap), _)) => Pacing::Gap(*gap),
        },
        timeout: layers
            .get("timeout", |wire| wire.timeout)
            .map_or(TIMEOUT, |(timeout, _)| *timeout),
    })
}

fn convert_model(loader: &mut Loader<'_>, layers: Layers<'_>) -> Option<Load> {
    let (wire, at) = layers.arrivals();
    match models(wire)[..] {
        [] => {
            loader.refuse(at, "does not say how arrivals come about: write one of `rate`, `ramp`, `staircase` and `users`");
            None
        }
        [first, second, ..] => {
            let message = format!(
                "`{first}` says already how arrivals come about: keep one of them, or put the other into an arm"
            );
            loader.refuse_key(at.key(second), message);
            None
        }
        ["users"] => closed(loader, layers, wire),
        [model] => open(loader, layers, wire, model),
    }
}

fn closed(loader: &mut Loader<'_>, layers: Layers<'_>, wire: &LoadWire) -> Option<Load> {
    let open_only = [
        (
            "connections",
            layers.get("connections", |wire| wire.connections.map(drop)),
        ),
        ("queue", layers.get("queue", |wire| wire.queue.map(drop))),
        (
            "profile",
            layers.get("profile", |wire| wire.profile.map(drop)),
        ),
    ];
    refuse_others(
        loader,
        layers,
        open_only,
        "users",
        "`users` are its connections",
    );
    Some(Load::Closed {
        users: wire.users?,
        think: layers
            .get("think", |wire| wire.think)
            .map_or(Duration::ZERO, |(think, _)| *think),
    })
}

fn open(loader: &mut Loader<'_>, layers: Layers<'_>, wire: &LoadWire, model: &str) -> Option<Load> {
    let closed_only = [("think", layers.get("think", |wire| wire.think.map(drop)))];
    refuse_others(
        loader,
        layers,
        closed_only,
        model,
        "write a lower rate, or `users`",
    );
    let arrival = layers.get("profile", |wire| wire.profile);
    if let (Some((_, at)), true) = (&arrival, model != "rate") {
        loader.refuse_key(
            at,
            format!("belongs to `rate`, and this load has a `{model}`: remove it"),
        );
    }
    let profile = if let Some(ramp) = wire.ramp {
        Profile::Ramp {
            from: ramp.from.as_per_second(),
            to: ramp.to.as_per_second(),
        }
    } else if let Some(staircase) = wire.staircase {
        Profile::Staircase {
            from: staircase.from.as_per_second(),
            step: staircase.step.as_per_second(),
            every: *staircase.every,
        }
    } else {
        let rate = wire.rate?.as_per_second();
        match arrival {
            Some((ArrivalWire::Poisson, _)) => Profile::Poisson { rate },
            Some((ArrivalWire::Constant, _)) | None => Profile::Constant { rate },
        }
    };
    Some(Load::Open {
        profile,
        connections: layers
            .get("connections", |wire| wire.connections)
            .map_or(CONNECTIONS, |(count, _)| count),
        queue: layers
            .get("queue", |wire| wire.queue)
            .map_or(QUEUE, |(count, _)| count),
    })
}

/// Refuses keys of the other model. An arm that switches the model leaves those of the common load behind.
fn refuse_others<const N: usize>(
    loader: &mut Loader<'_>,
    layers: Layers<'_>,
    keys: [(&str, Option<((), Pointer)>); N],
    model: &str,
    instead: &str,
) {
    let (_, arrivals_at) = layers.arrivals();
    for (key, found) in keys {
        if let Some((_, at)) = found
            && at.segments().starts_with(arrivals_at.segments())
        {
            loader.refuse_key(
                at,
                format!("`{key}` has no meaning with `{model}`: remove it; {instead}"),
            );
        }
    }
}
