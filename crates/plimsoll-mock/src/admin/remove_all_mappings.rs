//! `DELETE /mappings`: removes every stub, and the files of those that are persistent. Unlike WireMock's, it leaves the user's other files alone.

use super::error::AdminError;
use super::{Admin, AdminRequest};
use plimsoll_wiremock::response::answer::Answer;
use serde_json::json;

pub(super) fn answer(admin: &Admin, _: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let stubs = admin.stubs.current().stubs().to_vec();
    admin.remove(&stubs)?;
    admin.stubs.replace_all(Vec::new())?;
    Ok(Answer::json(200, &json!({})))
}
