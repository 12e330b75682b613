//! `POST /shutdown`: the mock ends as if told to stop by a signal.

use super::error::AdminError;
use super::{Admin, AdminRequest};
use plimsoll_wiremock::response::answer::{Answer, AnswerBuilder};

#[expect(
    clippy::unnecessary_wraps,
    reason = "the shape that every endpoint has in the table"
)]
pub(super) fn answer(admin: &Admin, _: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    admin.ending.send_replace(true);
    Ok(AnswerBuilder::new(200, None).body(b""))
}
