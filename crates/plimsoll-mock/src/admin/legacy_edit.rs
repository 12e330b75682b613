//! `POST /mappings/edit`: what `PUT /mappings/{id}` was in WireMock 1. The id stands in the mapping.

use super::error::AdminError;
use super::{Admin, AdminRequest};
use plimsoll_wiremock::response::answer::{Answer, AnswerBuilder};

pub(super) fn answer(admin: &Admin, request: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let mapping = admin.mapping_of(request)?;
    let id = mapping.id.ok_or_else(AdminError::absent)?;
    let stub = admin.stubs.replace(id, mapping)?;
    let stub = stub.ok_or_else(AdminError::absent)?;
    admin.save_if_persistent(&stub)?;
    Ok(AnswerBuilder::new(204, None).body(b""))
}
