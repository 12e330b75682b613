//! `GET /version`: ours, not that of the WireMock whose format this is. As text for who asks for text.

use super::error::AdminError;
use super::{Admin, AdminRequest};
use plimsoll_wiremock::response::answer::{Answer, AnswerBuilder};
use serde_json::json;

#[expect(
    clippy::unnecessary_wraps,
    reason = "the shape that every endpoint has in the table"
)]
pub(super) fn answer(_: &Admin, request: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let version = env!("CARGO_PKG_VERSION");
    if request.accept.starts_with(b"text/plain") {
        let answer = AnswerBuilder::new(200, None).field("Content-Type", "text/plain");
        return Ok(answer.body(version.as_bytes()));
    }
    Ok(Answer::json(200, &json!({"version": version})))
}
