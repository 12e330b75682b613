//! `DELETE /mappings/{id}`.

use super::error::AdminError;
use super::{Admin, AdminRequest, id_of};
use plimsoll_wiremock::response::answer::Answer;
use serde_json::json;

pub(super) fn answer(admin: &Admin, _: &AdminRequest, id: &str) -> Result<Answer, AdminError> {
    let stub = admin.stubs.get(id_of(id)?).ok_or_else(AdminError::absent)?;
    admin.remove(&[stub])?;
    Ok(Answer::json(200, &json!({})))
}
