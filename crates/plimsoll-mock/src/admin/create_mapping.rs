//! `POST /mappings`: adds a stub; every shard answers with it when this has answered.

use super::error::AdminError;
use super::{Admin, AdminRequest};
use plimsoll_wiremock::response::answer::Answer;

pub(super) fn answer(admin: &Admin, request: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let stub = admin.stubs.add(admin.mapping_of(request)?)?;
    admin.endpoints.yield_to_stubs();
    admin.save_if_persistent(&stub)?;
    Ok(Answer::json(201, &stub.document))
}
