//! Documents that hold stub mappings: one, a list, or a list to import, each read as a whole.

use super::StubMapping;
use super::raw::JsonBodies;
use super::request_pattern::RequestPattern;
use crate::matcher::Matcher;
use crate::reader::problem::StubProblem;
use crate::reader::surroundings::Surroundings;
use crate::reader::{Node, Problems, lenient_json, parse, read_value};
use plimsoll_base::document::values_in;
use serde_json::Value;

/// Reads a document that is one mapping.
pub fn read_mapping(text: &str, around: &Surroundings) -> Result<StubMapping, Problems> {
    let text = lenient_json::to_strict(text);
    read_one(parse(&text)?, &JsonBodies::find(&text), around)
}

fn read_one(
    document: Value,
    bodies: &JsonBodies<'_>,
    around: &Surroundings,
) -> Result<StubMapping, Problems> {
    let mapping = StubMapping::read(&Node::root(&document), bodies.of_document(), around);
    mapping.map(|mapping| mapping.with_document(document))
}

/// Reads a document that is a list to import, and what `read_options` reads of it: all of it, or every problem.
pub fn read_import<T>(
    text: &str,
    around: &Surroundings,
    read_options: impl FnOnce(&Node<'_>, &mut Problems) -> Option<T>,
) -> Result<(Vec<StubMapping>, T), Problems> {
    let text = lenient_json::to_strict(text);
    check_import(&text, values_in(text.as_bytes()), MOST_VALUES, "values")?;
    let mut document = parse(&text)?;
    let root = Node::root(&document);
    let mut problems = Problems::new();
    let options = read_options(&root, &mut problems);
    let options = options.filter(|_| problems.is_empty()).ok_or(problems)?;
    let count = document["mappings"].as_array().map_or(0, Vec::len);
    check_import(&text, count, MOST_MAPPINGS, "mappings")?;
    let results = read_list(
        &mut document,
        &JsonBodies::find(&text),
        around,
        &["importOptions"],
    );
    let mut problems = Problems::new();
    let mut mappings = Vec::with_capacity(results.len());
    for result in results {
        match result {
            Ok(mapping) => mappings.push(mapping),
            Err(more) => problems.extend(more),
        }
    }
    if problems.is_empty() {
        Ok((mappings, options))
    } else {
        Err(problems)
    }
}

/// Of something in a list to import: how many any list may have, and for how many bytes there may be one more.
type Most = (usize, usize);

const MOST_MAPPINGS: Most = (1_000, 100);

const MOST_VALUES: Most = (64_000, 8);

fn check_import(text: &str, count: usize, most: Most, what: &str) -> Result<(), Problems> {
    let most = most.0 + text.len() / most.1;
    if count <= most {
        return Ok(());
    }
    let length = text.len();
    let message = format!("more than {most} {what} in {length} bytes: import fewer at a time");
    Err(vec![StubProblem::invalid("/mappings", message)])
}

/// Reads a document that is one request pattern.
pub fn read_pattern(text: &str) -> Result<RequestPattern, Problems> {
    read_value(text, RequestPattern::read)
}

/// Reads a document that is one content pattern.
pub fn read_matcher(text: &str) -> Result<Matcher, Problems> {
    read_value(text, Matcher::read)
}

/// The shape of a document of mappings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One mapping.
    One,
    /// `{"mappings": […]}`.
    List,
}

/// Reads a document, which is one mapping or a list `{"mappings": […]}`: one result per mapping, or one for a text that is not JSON.
pub fn read_document(
    text: &str,
    around: &Surroundings,
) -> (Vec<Result<StubMapping, Problems>>, Shape) {
    let text = lenient_json::to_strict(text);
    let mut document = match parse(&text) {
        Ok(document) => document,
        Err(problems) => return (vec![Err(problems)], Shape::One),
    };
    let bodies = JsonBodies::find(&text);
    if document.get("mappings").is_none() {
        return (vec![read_one(document, &bodies, around)], Shape::One);
    }
    (read_list(&mut document, &bodies, around, &[]), Shape::List)
}

/// Reads a list of mappings, which are taken out of it; `others` names properties beside it that are somebody else's.
fn read_list(
    document: &mut Value,
    bodies: &JsonBodies<'_>,
    around: &Surroundings,
    others: &[&'static str],
) -> Vec<Result<StubMapping, Problems>> {
    let mut problems = Problems::new();
    let mut results: Vec<Result<StubMapping, Problems>> = Vec::new();
    if let Some(mut object) = Node::root(document).object(&mut problems) {
        if let Some(list) = object.get("mappings") {
            let items = list.items(&mut problems);
            let read = |(index, node)| StubMapping::read(node, bodies.of_item(index), around);
            results.extend(items.iter().enumerate().map(read));
        }
        object.ignore(&["meta", "$schema"]);
        object.ignore(others);
        object.finish(&["importOptions"], &mut problems);
    }
    let items = document.get_mut("mappings").and_then(Value::as_array_mut);
    for (result, item) in results.iter_mut().zip(items.into_iter().flatten()) {
        if let Ok(mapping) = result {
            mapping.document = item.take();
        }
    }
    if !problems.is_empty() {
        results.push(Err(problems));
    }
    results
}
