//! `DELETE /mappings/{id}`.

use super::error::AdminError;
use super::{Admin, AdminRequest, id_of, no_stub};
use crate::answer::Answer;
use serde_json::json;

pub(super) fn answer(admin: &Admin, _: &AdminRequest, id: &str) -> Result<Answer, AdminError> {
    let id = id_of(id)?;
    admin.stubs.remove(id).ok_or_else(|| no_stub(id))?;
    Ok(Answer::json(200, &json!({})))
}
