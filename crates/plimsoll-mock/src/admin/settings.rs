//! `GET`, `POST` and `PUT /settings`, `PATCH /settings/extended`: the delay of stubs that have none, and what a client wants remembered.

use super::error::AdminError;
use super::{Admin, AdminRequest};
use plimsoll_wiremock::reader::{Node, Problems};
use plimsoll_wiremock::reader::{parse_lenient, read_value};
use plimsoll_wiremock::response::answer::{Answer, AnswerBuilder};
use plimsoll_wiremock::response::delay::Delay;
use serde_json::{Map, Value, json};
use std::sync::PoisonError;

/// The settings as they are shown.
#[derive(Debug)]
pub(crate) struct Settings(Map<String, Value>);

impl Default for Settings {
    fn default() -> Self {
        Self(Map::from_iter([(
            "proxyPassThrough".to_owned(),
            true.into(),
        )]))
    }
}

pub(super) fn get(admin: &Admin, _: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let settings = admin
        .settings
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    Ok(Answer::json(200, &json!({"settings": settings.0})))
}

/// Replaces everything.
pub(super) fn set(admin: &Admin, request: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let text = request.text();
    let refused = |problems: Problems| AdminError::refused(&problems);
    let delay = read_value(&text, read).map_err(refused)?;
    let document = parse_lenient(&text).map_err(refused)?;
    let given = document.get("settings").unwrap_or(&document);
    let mut shown = Map::from_iter([("proxyPassThrough".to_owned(), false.into())]);
    for (name, value) in given.as_object().into_iter().flatten() {
        if !value.is_null() {
            shown.insert(name.clone(), value.clone());
        }
    }
    let mut settings = admin
        .settings
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    admin.stubs.set_default_delay(delay);
    settings.0 = shown;
    Ok(AnswerBuilder::new(200, None).body(b""))
}

/// Adds to `extended`.
pub(super) fn extend(admin: &Admin, request: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let refused = |problems: Problems| AdminError::refused(&problems);
    let extended = read_value(&request.text(), |node, problems| {
        let mut object = node.object(problems)?;
        let extended = object.get("extended");
        object.finish(&[], problems);
        let entries = extended.map_or_else(Vec::new, |node| node.entries(problems));
        let owned = |(name, node): (&str, Node<'_>)| (name.to_owned(), node.value.clone());
        Some(entries.into_iter().map(owned).collect::<Vec<_>>())
    });
    let extended = extended.map_err(refused)?;
    let mut settings = admin
        .settings
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let passes = settings.0.entry("proxyPassThrough");
    *passes.or_insert(Value::Null) = true.into();
    let own = settings.0.entry("extended").or_insert_with(|| json!({}));
    if let Value::Object(own) = own {
        own.extend(extended);
    }
    Ok(Answer::json(200, &json!({})))
}

/// Settings, bare or below `settings`.
fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Delay> {
    let mut object = node.object(problems)?;
    if let Some(wrapped) = object.get("settings") {
        object.finish(&[], problems);
        return read(&wrapped, problems);
    }
    let (fixed, distribution) = (object.get("fixedDelay"), object.get("delayDistribution"));
    if let Some(flag) = object.get("proxyPassThrough") {
        flag.boolean(problems);
    }
    if let Some(extended) = object.get("extended") {
        extended.entries(problems);
    }
    object.finish(&[], problems);
    Some(Delay::read(fixed.as_ref(), distribution.as_ref(), problems))
}
