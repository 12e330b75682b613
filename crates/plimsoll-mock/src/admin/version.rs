//! `GET /version`: ours, not that of the WireMock whose format this is.

use super::error::AdminError;
use super::{Admin, AdminRequest};
use crate::answer::Answer;
use serde_json::json;

#[expect(
    clippy::unnecessary_wraps,
    reason = "the shape that every endpoint has in the table"
)]
pub(super) fn answer(_: &Admin, _: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let version = env!("CARGO_PKG_VERSION");
    Ok(Answer::json(200, &json!({"version": version})))
}
