//! `POST /requests/count`, `/requests/find`, `/requests/remove`: the body is a request pattern for the journal.
//!
//! They answer for the requests that the journal still has.

use super::error::AdminError;
use super::requests::with_dropped;
use super::{Admin, AdminRequest};
use crate::records::journal::{Entry, Snapshot, shown};
use plimsoll_wiremock::response::answer::Answer;
use plimsoll_wiremock::stub::read_pattern;
use serde_json::json;
use std::sync::Arc;

pub(super) fn count(admin: &Admin, request: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let (snapshot, found) = matching(admin, request)?;
    if !admin.journal.is_on() {
        let unknown = json!({"count": -1, "requestJournalDisabled": true});
        return Ok(Answer::json(200, &unknown));
    }
    let count = json!({"count": found.len(), "requestJournalDisabled": false});
    Ok(with_dropped(&count, snapshot.dropped))
}

pub(super) fn find(admin: &Admin, request: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let (snapshot, found) = matching(admin, request)?;
    let requests: Vec<_> = found
        .iter()
        .map(|entry| shown::request(&admin.journal, entry))
        .collect();
    let list = json!({
        "requests": requests,
        "requestJournalDisabled": !admin.journal.is_on(),
    });
    Ok(with_dropped(&list, snapshot.dropped))
}

pub(super) fn remove(admin: &Admin, request: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let (_, found) = matching(admin, request)?;
    Ok(removed(admin, &found))
}

/// Removes entries and shows them.
pub(super) fn removed(admin: &Admin, entries: &[Arc<Entry>]) -> Answer {
    admin.journal.remove(entries);
    let events: Vec<_> = entries
        .iter()
        .map(|entry| shown::serve_event(&admin.journal, entry))
        .collect();
    Answer::json(200, &json!({"serveEvents": events}))
}

fn matching(
    admin: &Admin,
    request: &AdminRequest,
) -> Result<(Snapshot, Vec<Arc<Entry>>), AdminError> {
    let pattern =
        read_pattern(&request.text()).map_err(|problems| AdminError::refused(&problems))?;
    let snapshot = admin.journal.snapshot();
    let mut found = Vec::new();
    for entry in &snapshot.entries {
        if pattern.holds(&entry.request())? {
            found.push(Arc::clone(entry));
        }
    }
    Ok((snapshot, found))
}
