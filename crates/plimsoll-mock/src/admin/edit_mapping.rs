//! `PUT /mappings/{id}`: replaces a stub. The path's id wins, and the stub keeps its place in the order.

use super::error::AdminError;
use super::{Admin, AdminRequest, id_of};
use plimsoll_wiremock::response::answer::Answer;

pub(super) fn answer(
    admin: &Admin,
    request: &AdminRequest,
    id: &str,
) -> Result<Answer, AdminError> {
    let id = id_of(id)?;
    admin.stubs.get(id).ok_or_else(AdminError::absent)?;
    let mapping = admin.mapping_of(request)?;
    let stub = admin
        .stubs
        .replace(id, mapping)?
        .ok_or_else(AdminError::absent)?;
    admin.save_if_persistent(&stub)?;
    Ok(Answer::json(200, &stub.document))
}
