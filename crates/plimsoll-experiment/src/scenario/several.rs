//! `scenarios`: several by name, which share the load by weight or have each its own.

use plimsoll_base::document::{Entries, Path as Pointer};
use plimsoll_load::plan::{Action, Choice};

use super::{Converter, ScenarioPart, control};
use crate::wire::ScenarioWire;

/// How scenarios come to their iterations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Each iteration of the common load carries out one.
    Weights,
    /// Each has its own load.
    Loads,
}

pub(super) fn convert(
    converter: &mut Converter<'_, '_>,
    wire: &Entries<ScenarioWire>,
    at: &Pointer,
) -> Vec<ScenarioPart> {
    if wire.0.is_empty() {
        let message = "names no scenario: write at least one, or `scenario` with its steps";
        converter.refuse(at, message);
    }
    let kind = kind(converter, wire, at);
    let mut parts = Vec::new();
    let mut choices = Vec::new();
    for (name, wire) in wire.iter() {
        let at = at.key(name);
        if wire.weight == Some(0) {
            let message = "is never chosen with a weight of 0: leave it out, or write 1 or more";
            converter.refuse(&at.key("weight"), message);
            converter.scenario.is_partial = true;
        }
        if wire.steps.is_empty() {
            let message = "has no step: write at least one, for instance `- { get: / }`";
            converter.refuse(&at.key("steps"), message);
            converter.scenario.is_partial = true;
        }
        let actions = vec![control::group(
            converter,
            name,
            &wire.steps,
            (&at, &at.key("steps")),
        )];
        match kind {
            Kind::Weights => choices.push(Choice {
                weight: wire.weight.unwrap_or(1),
                actions,
            }),
            Kind::Loads => parts.push(ScenarioPart {
                name: name.to_owned(),
                program: actions,
            }),
        }
    }
    if kind == Kind::Weights {
        parts.push(ScenarioPart::main(vec![Action::Mix(choices)]));
    }
    parts
}

/// Which of both all of them are.
fn kind(converter: &mut Converter<'_, '_>, wire: &Entries<ScenarioWire>, at: &Pointer) -> Kind {
    let has_weights = wire.iter().any(|(_, wire)| wire.weight.is_some());
    for (name, wire) in wire.iter() {
        let at = at.key(name);
        match (&wire.weight, &wire.load) {
            (None, None) => converter.refuse(
                &at,
                "has neither `weight` nor `load`: write `weight: 1`, to share the common load with the others, or a `load` of its own",
            ),
            (_, Some(_)) if has_weights => converter.loader.refuse_key(
                at.key("load"),
                "cannot be used where scenarios have a `weight`: give every scenario a `weight`, to share the common load, or every one its own `load`",
            ),
            _ => {}
        }
    }
    if has_weights {
        Kind::Weights
    } else {
        Kind::Loads
    }
}
