//! `run`: commands of the user's inject the fault and heal it.

use plimsoll_base::document::{Path as Pointer, Text};

use super::refuse_secrets;
use crate::loader::Loader;
use crate::template::Template;
use crate::wire::RunWire;

/// Commands that are a fault: a program and its arguments each.
#[derive(Debug, Clone)]
pub struct Run {
    /// Injects it.
    pub inject: Vec<Template>,
    /// Ends with 0 once it has its effect.
    pub verify: Vec<Template>,
    /// Heals it.
    pub heal: Vec<Template>,
    /// Ends with 0 once nothing is left of it.
    pub healed: Vec<Template>,
}

pub(super) fn convert(loader: &mut Loader<'_>, wire: &RunWire, at: &Pointer) -> Run {
    Run {
        inject: command(loader, &wire.inject, &at.key("inject")),
        verify: command(loader, &wire.verify, &at.key("verify")),
        heal: command(loader, &wire.heal, &at.key("heal")),
        healed: command(loader, &wire.healed, &at.key("healed")),
    }
}

fn command(loader: &mut Loader<'_>, wire: &[Text], at: &Pointer) -> Vec<Template> {
    if wire.first().is_none_or(|program| program.is_empty()) {
        loader.refuse(
            at,
            "names no program: write for instance `[kubectl, delete, pod, api-0]`",
        );
    }
    let mut arguments = Vec::new();
    for (index, text) in wire.iter().enumerate() {
        let at = at.index(index);
        let argument = loader.template(&at, text, Some(""));
        refuse_secrets(loader, &argument, &at);
        arguments.push(argument);
    }
    arguments
}
