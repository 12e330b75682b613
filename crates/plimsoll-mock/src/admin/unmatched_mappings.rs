//! `GET` and `DELETE /mappings/unmatched`: stubs that have answered nothing since the journal was last emptied.

use super::error::AdminError;
use super::{Admin, AdminRequest, list_mappings};
use plimsoll_wiremock::response::answer::Answer;
use serde_json::json;

pub(super) fn list(admin: &Admin, _: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let set = admin.stubs.current();
    let unseen = set
        .stubs()
        .iter()
        .filter(|stub| !admin.journal.has_seen(stub));
    let total = unseen.clone().count();
    Ok(Answer::json(200, &list_mappings::list(unseen, total)))
}

pub(super) fn remove(admin: &Admin, _: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    admin.stubs.retain(|stub| admin.journal.has_seen(stub));
    Ok(Answer::json(200, &json!({})))
}
