//! `GET /health`.

use super::error::AdminError;
use super::{Admin, AdminRequest};
use plimsoll_wiremock::clock;
use plimsoll_wiremock::response::answer::Answer;
use serde_json::json;

#[expect(
    clippy::unnecessary_wraps,
    reason = "the shape that every endpoint has in the table"
)]
pub(super) fn answer(admin: &Admin, _: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let health = json!({
        "status": "healthy",
        "message": "Plimsoll mock is ok",
        "version": env!("CARGO_PKG_VERSION"),
        "uptimeInSeconds": admin.started.elapsed().as_secs(),
        "timestamp": clock::now().to_string(),
    });
    Ok(Answer::json(200, &health))
}
