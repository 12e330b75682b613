//! A response's `transformers`: whether it is a template.

use crate::reader::problem::StubProblem;
use crate::reader::surroundings::Templating;
use crate::reader::{Object, Problems};

/// The one transformer that WireMock brings.
const TEMPLATES: &str = "response-template";

/// Whether a response is a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Templates {
    Yes,
    No,
}

/// `transformers`: only the one for templates is there; others are Java extensions.
pub(in crate::stub) fn read_transformers(
    object: &mut Object<'_>,
    templating: Templating,
    problems: &mut Problems,
) -> Templates {
    let listed = object.get("transformers");
    let listed = listed.map_or_else(Vec::new, |node| node.items(problems));
    let mut is_listed = false;
    for node in listed {
        match node.text(problems) {
            Some(name) if name == TEMPLATES => is_listed = true,
            Some(name) => {
                let what = format!("the transformer \"{name}\", which is not WireMock's own,");
                problems.push(StubProblem::not_available(&node.pointer, &what));
            }
            None => {}
        }
    }
    match templating {
        Templating::All => Templates::Yes,
        Templating::Listed if is_listed => Templates::Yes,
        Templating::Listed | Templating::Off => Templates::No,
    }
}
