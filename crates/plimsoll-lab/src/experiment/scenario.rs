//! Scenario: the steps of one iteration.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use plimsoll_base::document::{Entries, Path as Pointer, Text};
use plimsoll_load::plan::Check;

use super::loader::Loader;
use super::template::Template;
use super::wire::StepWire;

/// One exchange of an iteration.
#[derive(Debug, Clone)]
pub struct Step {
    /// What reports call it; unique within the scenario.
    pub name: String,
    /// The method, in capitals.
    pub method: &'static str,
    /// The request target in origin form.
    pub path: Template,
    /// Header fields in order; those of the arm come last.
    pub headers: Vec<(String, Template)>,
    /// The request body.
    pub body: Body,
    /// How long the exchange may take; `None`: the load's.
    pub timeout: Option<Duration>,
    /// Waited after the end of the step before.
    pub pause: Duration,
    /// What an answer must satisfy.
    pub check: Check,
}

/// A request body.
#[derive(Debug, Clone)]
pub enum Body {
    /// None.
    Empty,
    /// Written in the experiment file.
    Inline(Template),
    /// The content of a file.
    File {
        /// Where it was read.
        path: PathBuf,
        /// What was read.
        bytes: Vec<u8>,
    },
}

const LONGEST_NAME: usize = 100;

pub(super) fn convert(loader: &mut Loader<'_>, wire: &[StepWire], at: &Pointer) -> Vec<Step> {
    if wire.is_empty() {
        loader.refuse(
            at,
            "has no step: write at least one, for instance `- { get: / }`",
        );
    }
    let mut names = HashSet::new();
    let mut steps = Vec::with_capacity(wire.len());
    for (index, wire) in wire.iter().enumerate() {
        let at = at.index(index);
        let Some(mut step) = convert_step(loader, wire, &at) else {
            continue;
        };
        if names.contains(&step.name) && wire.name.is_some() {
            loader.refuse(
                at.key("name"),
                format!(
                    "another step is called `{}` already: choose another name",
                    step.name
                ),
            );
        }
        step.name = unused(&names, step.name);
        names.insert(step.name.clone());
        steps.push(step);
    }
    steps
}

fn unused(names: &HashSet<String>, name: String) -> String {
    let numbered = (2..).map(|number| format!("{name} ({number})"));
    let first = std::iter::once(name.clone())
        .chain(numbered)
        .find(|candidate| !names.contains(candidate));
    first.unwrap_or(name)
}

fn convert_step(loader: &mut Loader<'_>, wire: &StepWire, at: &Pointer) -> Option<Step> {
    let methods = [
        ("get", "GET", &wire.get),
        ("head", "HEAD", &wire.head),
        ("post", "POST", &wire.post),
        ("put", "PUT", &wire.put),
        ("patch", "PATCH", &wire.patch),
        ("delete", "DELETE", &wire.delete),
        ("options", "OPTIONS", &wire.options),
    ];
    let mut written = methods
        .iter()
        .filter_map(|(key, method, path)| path.as_ref().map(|path| (*key, *method, path)));
    let Some((key, method, path)) = written.next() else {
        loader.refuse(at, "has no method: write one of `get`, `head`, `post`, `put`, `patch`, `delete` and `options` with a path");
        return None;
    };
    if let Some((second, _, _)) = written.next() {
        loader.refuse_key(
            at.key(second),
            format!(
                "a step is one exchange, and this is `{key}` already: make it a step of its own"
            ),
        );
    }
    let name = wire
        .name
        .clone()
        .unwrap_or_else(|| format!("{method} {path}"));
    if name.is_empty()
        || name.chars().count() > LONGEST_NAME && wire.name.is_some()
        || name.contains(char::is_control)
    {
        loader.refuse(
            at.key("name"),
            format!("cannot name a step: write 1 to {LONGEST_NAME} printable characters"),
        );
    }
    Some(Step {
        name: name.chars().take(LONGEST_NAME).collect(),
        method,
        path: loader.template(&at.key(key), path, None),
        headers: headers(loader, wire.headers.as_ref(), &at.key("headers")),
        body: body(loader, wire, at),
        timeout: wire.timeout.map(|timeout| *timeout),
        pause: wire.pause.map_or(Duration::ZERO, |pause| *pause),
        check: Check {
            status: wire
                .check
                .as_ref()
                .and_then(|check| check.status.as_ref())
                .map(|status| status.0.clone()),
        },
    })
}

/// Header fields of a step or an arm.
pub(super) fn headers(
    loader: &mut Loader<'_>,
    wire: Option<&Entries<Text>>,
    at: &Pointer,
) -> Vec<(String, Template)> {
    let mut headers: Vec<(String, Template)> = Vec::new();
    for (name, value) in wire.iter().flat_map(|entries| entries.iter()) {
        let at = at.key(name);
        if headers
            .iter()
            .any(|(earlier, _)| earlier.eq_ignore_ascii_case(name))
        {
            loader.refuse_key(&at, "is written twice, in different capitals: keep one");
        }
        let value = loader.template(&at, value, None);
        headers.push((name.to_owned(), value));
    }
    headers
}

fn body(loader: &mut Loader<'_>, wire: &StepWire, at: &Pointer) -> Body {
    match (&wire.body, &wire.body_file) {
        (None, None) => Body::Empty,
        (Some(text), None) => Body::Inline(loader.template(&at.key("body"), text, None)),
        (body, Some(file)) => {
            if body.is_some() {
                loader.refuse_key(
                    at.key("body_file"),
                    "a step has one body: keep either `body` or `body_file`",
                );
            }
            let bytes = loader.read(&at.key("body_file"), file);
            Body::File {
                path: loader.resolve(file),
                bytes,
            }
        }
    }
}
