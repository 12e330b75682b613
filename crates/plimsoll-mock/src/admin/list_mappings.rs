//! `GET /mappings?limit&offset`: the mappings in match order and how many there are in all.

use super::error::AdminError;
use super::{Admin, AdminRequest, query};
use plimsoll_wiremock::response::answer::Answer;
use plimsoll_wiremock::stub::Stub;
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) fn answer(admin: &Admin, request: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let limit = query::count(&request.query, "limit")?;
    let offset = query::count(&request.query, "offset")?;
    let set = admin.stubs.current();
    let page = set.stubs().iter().skip(offset.unwrap_or(0));
    let page = page.take(limit.unwrap_or(usize::MAX));
    Ok(Answer::json(200, &list(page, set.stubs().len())))
}

/// Mappings as a list, with how many there are in all.
pub(super) fn list<'a>(stubs: impl Iterator<Item = &'a Arc<Stub>>, total: usize) -> Value {
    let mappings: Vec<_> = stubs.map(|stub| &stub.document).collect();
    json!({"mappings": mappings, "meta": {"total": total}})
}
