//! Load of one arm: the common `load` with the arm's own fields over it, and what the fields mean together.

use std::time::Duration;

use plimsoll_base::document::Path as Pointer;
use plimsoll_load::plan::{Connections, Load, Pacing, Profile, Spacing, Stretch};

use super::connections;
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
    /// How connections are made, kept and shared.
    pub connections: Connections,
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

    /// The value that applies: the arm's own, else the common one.
    pub fn get<T>(&self, field: impl Fn(&'a LoadWire) -> Option<T>) -> Option<T> {
        self.own
            .and_then(|(wire, _)| field(wire))
            .or_else(|| field(self.common.0))
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

    /// Where keys are written that concern the model: where the model is, and inward of it.
    fn inward_of_arrivals(&self) -> Vec<&'a Pointer> {
        let (_, arrivals) = self.arrivals();
        let own = self.own.map(|(_, at)| at).filter(|at| *at != arrivals);
        [arrivals].into_iter().chain(own).collect()
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
    let duration = layers.get(|wire| wire.duration);
    if duration.is_none() {
        loader.refuse(
            layers.at().key("duration"),
            "is missing: write for instance `duration: 30s`",
        );
    }
    let warmup = layers.get(|wire| wire.warmup);
    let warmup = warmup.map_or(Duration::ZERO, |warmup| *warmup);
    // Any length will do where the file is refused for having none.
    let length = duration.map_or(Duration::from_secs(1), |duration| *duration);
    let load = convert_model(loader, layers, warmup.saturating_add(length));
    Some(LoadSettings {
        load: load?,
        duration: *duration?,
        warmup,
        connections: connections::convert(loader, layers),
        pacing: match layers.get(|wire| wire.pacing) {
            None => Pacing::default(),
            Some(PacingWire::Precise) => Pacing::Precise,
            Some(PacingWire::Gap(gap)) => Pacing::Gap(*gap),
        },
        timeout: layers
            .get(|wire| wire.timeout)
            .map_or(TIMEOUT, |timeout| *timeout),
    })
}

fn convert_model(loader: &mut Loader<'_>, layers: Layers<'_>, total: Duration) -> Option<Load> {
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
        ["users"] => closed(loader, layers, wire, total),
        [model] => open(loader, layers, wire, model, total),
    }
}

fn closed(
    loader: &mut Loader<'_>,
    layers: Layers<'_>,
    wire: &LoadWire,
    total: Duration,
) -> Option<Load> {
    refuse(
        loader,
        layers,
        &["connections", "queue", "profile"],
        "users",
    );
    let think = layers.get(|wire| wire.think);
    let think = think.map_or(Duration::ZERO, |think| *think);
    Some(Load::closed(wire.users?, think, total))
}

fn open(
    loader: &mut Loader<'_>,
    layers: Layers<'_>,
    wire: &LoadWire,
    model: &str,
    total: Duration,
) -> Option<Load> {
    refuse(loader, layers, &["think"], model);
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
        Profile::Constant {
            rate: wire.rate?.as_per_second(),
        }
    };
    let stretch = Stretch {
        profile,
        spacing: match layers.get(|wire| wire.profile) {
            Some(ArrivalWire::Poisson) => Spacing::Poisson,
            Some(ArrivalWire::Constant) | None => Spacing::Even,
        },
        length: total,
    };
    Some(Load::open(
        vec![stretch],
        layers.get(|wire| wire.connections).unwrap_or(CONNECTIONS),
        layers.get(|wire| wire.queue).unwrap_or(QUEUE),
    ))
}

/// Refuses keys that say nothing about this model. An arm with a model of its own leaves those of the common load behind.
fn refuse(loader: &mut Loader<'_>, layers: Layers<'_>, keys: &[&str], model: &str) {
    for at in layers.inward_of_arrivals() {
        for key in keys {
            let at = at.key(key);
            if loader.is_written(&at) {
                loader.refuse_key(&at, format!("has no meaning with `{model}`: remove it"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::memory::with_load;

    /// The model and what differs from the defaults, of the arm `main`.
    fn check(load: &str, expected: &str) {
        let experiment = with_load(load, "").load(&[]).unwrap();
        let settings = &experiment.arm("main").unwrap().settings;
        assert_eq!(settings.load.to_string(), expected, "{load}");
    }

    #[test]
    fn every_model_and_profile_can_be_written() {
        check(
            "{ rate: 90/min, duration: 5s }",
            "1.5/s over 50 connections",
        );
        check(
            "{ rate: 10/s, profile: poisson, connections: 5, queue: 0, duration: 5s }",
            "10/s (Poisson) over 5 connections",
        );
        check(
            "{ ramp: { from: 1/s, to: 50/s }, duration: 5s }",
            "1/s to 50/s over 50 connections",
        );
        check(
            "{ staircase: { from: 10/s, step: 5/s, every: 1s }, duration: 5s }",
            "10/s, 5/s more every 1.00 s over 50 connections",
        );
        check("{ users: 5, duration: 5s }", "5 users");
        check(
            "{ users: 5, think: 1s, duration: 5s }",
            "5 users who think 1.00 s",
        );
    }

    #[test]
    fn defaults_and_the_other_settings() {
        let plain = with_load("{ rate: 1/s, duration: 5s }", "")
            .load(&[])
            .unwrap();
        insta::assert_snapshot!(format!("{:?}", plain.arms[0].settings), @"LoadSettings { load: Open { profile: [Stretch { profile: Constant { rate: 1.0 }, spacing: Even, length: 5s }], connections: 50, grow_to: 50, queue: 10000 }, warmup: 0ns, duration: 5s, connections: Connections { policy: PerUser, exchanges: None, protocol: Http1, tls: None, sources: [], resolve: None, connect_timeout: None, first_byte_timeout: None }, pacing: Gap(200µs), timeout: 10s }");
        let load = "{ rate: 1/s, warmup: 2s, duration: 5s, pacing: precise, timeout: 1s, keep_alive: false }";
        let full = with_load(load, "").load(&[]).unwrap();
        insta::assert_snapshot!(format!("{:?}", full.arms[0].settings), @"LoadSettings { load: Open { profile: [Stretch { profile: Constant { rate: 1.0 }, spacing: Even, length: 7s }], connections: 50, grow_to: 50, queue: 10000 }, warmup: 2s, duration: 5s, connections: Connections { policy: PerExchange, exchanges: None, protocol: Http1, tls: None, sources: [], resolve: None, connect_timeout: None, first_byte_timeout: None }, pacing: Precise, timeout: 1s }");
    }

    #[test]
    fn an_arm_overrides_field_by_field_and_a_new_model_replaces_the_old() {
        let arms = "arms:
  same: {}
  faster: { load: { rate: 20/s } }
  wider: { load: { connections: 7, timeout: 3s } }
  closed: { load: { users: 3 } }
  thinking: { load: { think: 1s } }
  ramp: { load: { ramp: { from: 1/s, to: 2/s }, profile: constant } }
";
        let load = "{ rate: 10/s, profile: poisson, connections: 5, duration: 5s }";
        let refused = with_load(load, arms).load(&[]).unwrap_err();
        insta::assert_snapshot!(refused, @"e/experiment.yaml:11:23: arms.thinking.load.think: has no meaning with `rate`: remove it");
        let experiment = with_load(
            load,
            &arms
                .replace(", profile: constant", "")
                .replace("think: 1s", ""),
        )
        .load(&[])
        .unwrap();
        let shown: Vec<String> = experiment
            .arms
            .iter()
            .map(|arm| {
                format!(
                    "{}: {} {:?}",
                    arm.name, arm.settings.load, arm.settings.timeout
                )
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        same: 10/s (Poisson) over 5 connections 10s
        faster: 20/s (Poisson) over 5 connections 10s
        wider: 10/s (Poisson) over 7 connections 3s
        closed: 3 users 10s
        thinking: 10/s (Poisson) over 5 connections 10s
        ramp: 1/s to 2/s (Poisson) over 5 connections 10s
        ");
    }
}
