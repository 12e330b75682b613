//! Scenario: what one virtual user does in one iteration, as the file says it.

mod body;
mod check;
mod control;
mod data;
mod extract;
mod several;
mod step;

pub use body::Body;
pub(super) use data::convert as convert_data;
pub use data::{Data, FeederFile};

use std::collections::{HashMap, HashSet};

use plimsoll_base::document::{Entries, Path as Pointer, Text};
use plimsoll_load::plan::{self, Action, Dealing};

use super::loader::Loader;
use super::template::Template;
use super::wire::{ExperimentWire, StepWire};

/// One exchange of an iteration, and where it is written.
#[derive(Debug, Clone)]
pub struct Step {
    /// The exchange, with its substitutions still to be made. The header fields of the arm come last.
    pub exchange: plan::Step<Template, Body>,
    /// Where it is written ...
    pub(super) place: Pointer,
    /// ... and each of its further predicates.
    pub(super) checks: Vec<Pointer>,
}

/// Programs of virtual users.
#[derive(Debug, Clone, Default)]
pub struct Scenario {
    /// Every exchange, in the order in which they are written; those of redirects come right after their step.
    pub steps: Vec<Step>,
    /// Programs over these steps: all at the same time, each with its own load.
    pub parts: Vec<ScenarioPart>,
    /// How iterations get the rows of feeders.
    pub dealing: Dealing,
    /// Names of its groups in reports, each before those within it.
    pub groups: Vec<String>,
    /// Where its conditions are written, in their order.
    pub(super) conditions: Vec<Pointer>,
    /// Where its pauses are written that are no step's, in their order.
    pub(super) pauses: Vec<Pointer>,
    /// Whether something of it is refused, so that the rest says little.
    pub(super) is_partial: bool,
}

/// Program of the iterations of one load.
#[derive(Debug, Clone)]
pub struct ScenarioPart {
    /// Its name in the plan.
    pub name: String,
    /// The program of an iteration.
    pub program: Vec<Action<Template>>,
}

impl ScenarioPart {
    /// The only one.
    fn main(program: Vec<Action<Template>>) -> Self {
        Self {
            name: "main".to_owned(),
            program,
        }
    }
}

/// How deep ways may nest.
const MAX_DEPTH: usize = 16;

/// The scenario, or the scenarios, that arms have in common.
pub(super) fn convert_common(loader: &mut Loader<'_>, wire: &ExperimentWire) -> Scenario {
    let root = Pointer::root();
    match (&wire.scenario, &wire.scenarios) {
        (Some(steps), scenarios) => {
            if scenarios.is_some() {
                let message = "cannot be combined with `scenario`: keep one of them";
                loader.refuse_key(root.key("scenarios"), message);
            }
            convert(loader, steps, &root.key("scenario"))
        }
        (None, Some(scenarios)) => {
            let mut converter = Converter::new(loader);
            let parts = several::convert(&mut converter, scenarios, &root.key("scenarios"));
            Scenario {
                parts,
                dealing: Dealing::Needed,
                ..converter.scenario
            }
        }
        (None, None) => {
            loader.refuse(
                root,
                "the key `scenario` is missing: add it, or `scenarios`",
            );
            Scenario {
                is_partial: true,
                ..Scenario::default()
            }
        }
    }
}

pub(super) fn convert(loader: &mut Loader<'_>, wire: &[StepWire], at: &Pointer) -> Scenario {
    if wire.is_empty() {
        loader.refuse(
            at,
            "has no step: write at least one, for instance `- { get: / }`",
        );
    }
    let mut converter = Converter::new(loader);
    let program = converter.list(wire, at);
    converter.scenario.parts.push(ScenarioPart::main(program));
    converter.scenario
}

/// Conversion under way, with the names known so far.
struct Converter<'a, 'l> {
    loader: &'a mut Loader<'l>,
    scenario: Scenario,
    names: HashSet<String>,
    /// The number behind which to look for another of a name: smaller ones are taken.
    numbers: HashMap<String, u64>,
    /// The names of the groups around what is converted, outermost first.
    within: Vec<String>,
    depth: usize,
}

impl<'a, 'l> Converter<'a, 'l> {
    fn new(loader: &'a mut Loader<'l>) -> Self {
        Self {
            loader,
            scenario: Scenario::default(),
            names: HashSet::new(),
            numbers: HashMap::new(),
            within: Vec::new(),
            depth: 0,
        }
    }

    fn list(&mut self, wire: &[StepWire], at: &Pointer) -> Vec<Action<Template>> {
        if self.depth == MAX_DEPTH {
            self.refuse(at, format!("steps nest at most {MAX_DEPTH} deep"));
            return Vec::new();
        }
        self.depth += 1;
        let mut actions = Vec::with_capacity(wire.len());
        for (index, wire) in wire.iter().enumerate() {
            let at = at.index(index);
            match self.one(wire, &at) {
                Some(action) => actions.push(action),
                None => self.scenario.is_partial = true,
            }
        }
        self.depth -= 1;
        actions
    }

    fn one(&mut self, wire: &StepWire, at: &Pointer) -> Option<Action<Template>> {
        if control::is_one(wire) {
            control::convert(self, wire, at)
        } else if let Some(span) = control::alone(wire) {
            self.scenario.pauses.push(at.key("pause"));
            Some(Action::Pause(span))
        } else {
            step::convert(self, wire, at)
        }
    }

    fn refuse(&mut self, at: &Pointer, message: impl Into<String>) {
        self.loader.refuse(at, message);
    }

    /// A name that no step has yet.
    fn unused(&mut self, name: String) -> String {
        if self.names.insert(name.clone()) {
            return name;
        }
        let number = self.numbers.entry(name.clone()).or_insert(1);
        loop {
            *number += 1;
            let numbered = format!("{name} ({number})");
            if self.names.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

/// Header fields of a step or an arm.
pub(super) fn headers(
    loader: &mut Loader<'_>,
    wire: Option<&Entries<Text>>,
    at: &Pointer,
) -> Vec<(String, Template)> {
    let mut headers: Vec<(String, Template)> = Vec::new();
    let mut names = HashSet::new();
    for (name, value) in wire.iter().flat_map(|entries| entries.iter()) {
        let at = at.key(name);
        if !names.insert(name.to_ascii_lowercase()) {
            loader.refuse_key(&at, "is written twice, in different capitals: keep one");
        }
        let value = loader.template(&at, value, None);
        headers.push((name.to_owned(), value));
    }
    headers
}
