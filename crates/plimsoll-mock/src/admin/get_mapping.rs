//! `GET /mappings/{id}`.

use super::error::AdminError;
use super::{Admin, AdminRequest, id_of};
use plimsoll_wiremock::response::answer::Answer;

pub(super) fn answer(admin: &Admin, _: &AdminRequest, id: &str) -> Result<Answer, AdminError> {
    let id = id_of(id)?;
    let stub = admin.stubs.get(id).ok_or_else(AdminError::absent)?;
    Ok(Answer::json(200, &stub.document))
}
