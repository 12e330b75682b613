//! `POST /mappings/find-by-metadata` and `/mappings/remove-by-metadata`: the body is a content pattern for the metadata as JSON.

use super::error::AdminError;
use super::{Admin, AdminRequest, list_mappings};
use plimsoll_wiremock::budget::TooCostly;
use plimsoll_wiremock::matcher::Matcher;
use plimsoll_wiremock::request::content::Content;
use plimsoll_wiremock::response::answer::Answer;
use plimsoll_wiremock::stub::{Stub, read_matcher};
use serde_json::json;
use std::sync::Arc;

pub(super) fn find(admin: &Admin, request: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let found = matching(admin, request)?;
    let list = list_mappings::list(found.iter(), found.len());
    Ok(Answer::json(200, &list))
}

pub(super) fn remove(admin: &Admin, request: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let found = matching(admin, request)?;
    admin.remove(&found)?;
    Ok(Answer::json(200, &json!({})))
}

/// Whether a stub's metadata match; a stub without any does not.
pub(super) fn holds(pattern: &Matcher, stub: &Stub) -> Result<bool, TooCostly> {
    match stub.document.get("metadata") {
        Some(metadata) => pattern.holds(Some(&Content::text_of(metadata.to_string()))),
        None => Ok(false),
    }
}

fn matching(admin: &Admin, request: &AdminRequest) -> Result<Vec<Arc<Stub>>, AdminError> {
    let pattern =
        read_matcher(&request.text()).map_err(|problems| AdminError::refused(&problems))?;
    let set = admin.stubs.current();
    let mut found = Vec::new();
    for stub in set.stubs() {
        if holds(&pattern, stub)? {
            found.push(Arc::clone(stub));
        }
    }
    Ok(found)
}
