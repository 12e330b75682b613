//! How arrivals come about: the layer that says so, its stages one after the other, and how long they last together.

use std::time::Duration;

use plimsoll_base::document::Path as Pointer;
use plimsoll_load::plan::{Crowd, Load, Profile, Spacing, Span, Stretch};

use super::layers::{Layer, Layers};
use super::stage::{Extent, Stage};
use super::stage_kind::{self, StageLoad};
use super::written::Written;
use crate::loader::Loader;
use crate::wire::{
    ArrivalWire, BusyWire, ConnectionCountWire, GrowWire, LoadWire, SpanWire, StageWire,
};

const CONNECTIONS: u32 = 50;
const QUEUE: u32 = 10_000;

/// The arrivals or users of a load.
pub struct Arrivals {
    pub load: Load,
    /// How long they come, warm-up included.
    pub total: Duration,
    pub written: Written,
}

/// A part of the load, with where its keys are.
type Placed = (StageLoad, Pointer);

/// `None`, with problems noted, when they cannot be had.
pub fn convert(loader: &mut Loader<'_>, layers: Layers<'_>, warmup: Duration) -> Option<Arrivals> {
    // Who says anew how arrivals come about leaves behind what was said of those before.
    let inward = layers.since(|wire| !models(wire).is_empty());
    let (wire, at) = inward.first();
    let models = models(wire);
    let duration = layers.get(|wire| wire.duration).map(|duration| *duration);
    if duration.is_none() && models.len() != 1 && !models.contains(&"stages") {
        let message = "is missing: write for instance `duration: 30s`";
        loader.refuse(layers.at().key("duration"), message);
    }
    let parts = match models[..] {
        [] => {
            loader.refuse(
                at,
                "needs one of `rate`, `ramp`, `staircase`, `users` and `stages`",
            );
            return None;
        }
        [first, second, ..] => {
            let message = format!(
                "`{first}` already defines the load: keep one of them, or put the other into an arm"
            );
            loader.refuse_key(at.key(second), message);
            return None;
        }
        ["stages"] => stages(loader, layers, inward.first())?,
        [_] => {
            let total = duration.map(|duration| warmup.saturating_add(duration));
            vec![whole(loader, layers, inward.first(), total)?]
        }
    };
    let lengths = parts.iter().map(|(part, _)| part.length());
    let total = lengths.fold(Duration::ZERO, Duration::saturating_add);
    let model = models[0];
    let written = if model == "stages" {
        inward.get(|wire| wire.duration)
    } else {
        layers.get(|wire| wire.duration)
    };
    check_total(
        loader,
        inward,
        model,
        (warmup, written.map(|duration| *duration), total),
    )?;
    assemble(loader, layers, inward, model, parts, total)
}

/// Keys that choose how arrivals come about.
fn models(wire: &LoadWire) -> Vec<&'static str> {
    let keys = [
        ("rate", wire.rate.is_some()),
        ("ramp", wire.ramp.is_some()),
        ("staircase", wire.staircase.is_some()),
        ("users", wire.users.is_some()),
        ("stages", wire.stages.is_some()),
    ];
    let present = keys.iter().filter(|(_, present)| *present);
    present.map(|(key, _)| *key).collect()
}

/// A load without stages is a stage of its own, as long as the load.
fn whole(
    loader: &mut Loader<'_>,
    layers: Layers<'_>,
    (wire, at): &Layer<'_>,
    total: Option<Duration>,
) -> Option<Placed> {
    let stage = Stage {
        wire: &StageWire {
            rate: wire.rate,
            ramp: wire.ramp,
            staircase: wire.staircase,
            users: wire.users,
            ..StageWire::default()
        },
        at: at.clone(),
        lasts: total,
        lasts_at: layers.place(loader, "duration"),
        extent: Extent::Load,
        spacing: spacing(layers),
    };
    Some((stage_kind::convert(loader, &stage)?, stage.at))
}

fn stages(
    loader: &mut Loader<'_>,
    layers: Layers<'_>,
    (wire, at): &Layer<'_>,
) -> Option<Vec<Placed>> {
    let list = at.key("stages");
    let mut parts = Vec::new();
    let mut first: Option<(usize, &str)> = None;
    let problems = loader.problem_count();
    for (index, wire) in wire.stages.iter().flatten().enumerate() {
        let at = list.index(index);
        match (stage_kind::kind(wire), first) {
            (None | Some("nothing"), _) => {}
            (Some(kind), None) => first = Some((index, kind)),
            (Some(kind), Some((other, of))) if (kind == "users") != (of == "users") => {
                let message = format!(
                    "mixes the models: stage {} of these is `{of}`; keep to users (closed) or to arrivals (open)",
                    other + 1
                );
                loader.refuse_key(at.key(kind), message);
            }
            _ => {}
        }
        let stage = Stage {
            wire,
            lasts: wire.lasts.map(|length| *length),
            lasts_at: at.key("for"),
            at,
            extent: Extent::Stage,
            spacing: spacing(layers),
        };
        parts.extend(stage_kind::convert(loader, &stage).map(|part| (part, stage.at)));
    }
    if parts.is_empty() && loader.problem_count() == problems {
        loader.refuse(
            &list,
            "names no stage: write at least one, such as `- { rate: 10/s, for: 30s }`",
        );
    }
    (loader.problem_count() == problems).then_some(parts)
}

fn spacing(layers: Layers<'_>) -> Spacing {
    let written = layers.get(|wire| wire.profile);
    written.map(ArrivalWire::spacing).unwrap_or_default()
}

/// Holds how long the parts last together against what is written of it.
fn check_total(
    loader: &mut Loader<'_>,
    inward: Layers<'_>,
    model: &str,
    (warmup, duration, total): (Duration, Option<Duration>, Duration),
) -> Option<()> {
    let at = inward.first().1.key(model);
    match duration {
        None if total <= warmup => {
            let message =
                format!("lasts {total:?}, and the warm-up {warmup:?}: nothing is left to measure");
            loader.refuse(at, message);
            None
        }
        Some(duration) if warmup.saturating_add(duration) != total => {
            let message = format!(
                "is {duration:?}, with the warm-up {:?}, and the stages last {total:?}: leave it out, or change one of them",
                warmup.saturating_add(duration)
            );
            loader.refuse(inward.place(loader, "duration"), message);
            None
        }
        _ => Some(()),
    }
}

fn assemble(
    loader: &mut Loader<'_>,
    layers: Layers<'_>,
    inward: Layers<'_>,
    model: &str,
    parts: Vec<Placed>,
    total: Duration,
) -> Option<Arrivals> {
    let is_closed = parts
        .iter()
        .any(|(part, _)| matches!(part, StageLoad::Closed(_)));
    let because = match (model, is_closed) {
        ("stages", true) => "stages of `users`".to_owned(),
        ("stages", false) => "stages of arrivals".to_owned(),
        (model, _) => format!("`{model}`"),
    };
    let mut written = Written::new(&inward.first().1, model);
    let load = if is_closed {
        inward.refuse(
            loader,
            &["connections", "queue", "profile", "when_busy"],
            &because,
        );
        Load::Closed {
            users: crowds(parts, &mut written),
            think: span(layers.get(|wire| wire.think)),
            every: span(layers.get(|wire| wire.every)),
        }
    } else {
        inward.refuse(loader, &["think", "every", "iterations"], &because);
        let profile = stretches(parts, &mut written);
        if profile
            .last()
            .is_some_and(|last| last.length.is_zero() && model == "stages")
        {
            let message = "comes at the very end, where nothing starts any more: write a stage after it, such as `- { nothing: 10s }`";
            loader.refuse(written.last(), message);
            return None;
        }
        open(loader, layers, profile)
    };
    Some(Arrivals {
        load,
        total,
        written,
    })
}

fn span(wire: Option<SpanWire>) -> Span {
    wire.map_or(Span::ZERO, |wire| wire.span())
}

fn crowds(parts: Vec<Placed>, written: &mut Written) -> Vec<Crowd> {
    let mut crowds = Vec::new();
    for (part, at) in parts {
        let before = crowds.len();
        match part {
            StageLoad::Closed(more) => crowds.extend(more),
            StageLoad::Nothing(length) => crowds.push(Crowd {
                from: 0,
                to: 0,
                length,
            }),
            StageLoad::Open(_) => {}
        }
        written.note(&at, crowds.len() - before);
    }
    crowds
}

fn stretches(parts: Vec<Placed>, written: &mut Written) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    for (part, at) in parts {
        let before = stretches.len();
        match part {
            StageLoad::Open(more) => stretches.extend(more),
            StageLoad::Nothing(length) => stretches.push(Profile::Nothing.lasting(length)),
            StageLoad::Closed(_) => {}
        }
        written.note(&at, stretches.len() - before);
    }
    stretches
}

/// How many there are at first; `None` where that is left open.
fn connections(loader: &mut Loader<'_>, layers: Layers<'_>) -> Option<u32> {
    let written = layers.get(|wire| wire.connections);
    if written == Some(ConnectionCountWire::Auto) {
        let others = [
            ("when_busy", layers.get(|wire| wire.when_busy).is_some()),
            (
                "shared_connections",
                layers.get(|wire| wire.shared_connections).is_some(),
            ),
        ];
        for (key, _) in others.into_iter().filter(|(_, written)| *written) {
            let message = format!(
                "`auto` leaves open how many there are, and `{key}` does not: write a number, or remove one of the two"
            );
            loader.refuse(layers.place(loader, "connections"), message);
        }
    }
    written.and_then(ConnectionCountWire::number)
}

fn open(loader: &mut Loader<'_>, layers: Layers<'_>, profile: Vec<Stretch>) -> Load {
    let connections = connections(loader, layers).unwrap_or(CONNECTIONS);
    let queue = layers.get(|wire| wire.queue).unwrap_or(QUEUE);
    let (grow_to, queue) = match layers.get(|wire| wire.when_busy) {
        None | Some(BusyWire::Queue) => (connections, queue),
        Some(BusyWire::Grow(GrowWire { grow })) => (grow, queue),
        Some(BusyWire::Drop) => {
            let inward = layers.since(|wire| wire.when_busy.is_some());
            inward.refuse(loader, &["queue"], "`when_busy: drop`");
            (connections, 0)
        }
    };
    Load::Open {
        profile,
        connections,
        grow_to,
        queue,
    }
}
