//! `DELETE /mappings`: removes every stub. Unlike WireMock's, it leaves the files of the root directory alone.

use super::error::AdminError;
use super::{Admin, AdminRequest};
use crate::answer::Answer;
use serde_json::json;

pub(super) fn answer(admin: &Admin, _: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    admin.stubs.replace_all(Vec::new())?;
    Ok(Answer::json(200, &json!({})))
}
