//! `GET /docs`: where the description of this API is.

use super::error::AdminError;
use super::{Admin, AdminRequest, ROUTES};
use plimsoll_wiremock::response::answer::{Answer, AnswerBuilder};
use std::fmt::Write as _;

#[expect(
    clippy::unnecessary_wraps,
    reason = "the shape that every endpoint has in the table"
)]
pub(super) fn answer(_: &Admin, _: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let mut page = String::from(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head><title>Plimsoll mock: admin API</title></head>\n<body>\n\
         <p>WireMock's admin API. These routes are there:</p>\n<ul>\n",
    );
    for (method, path, _) in ROUTES {
        writeln!(page, "<li><code>{method} /__admin{path}</code></li>")
            .expect("invariant: text takes what is written");
    }
    page.push_str("</ul>\n</body>\n</html>\n");
    Ok(AnswerBuilder::new(200, None)
        .field("Content-Type", "text/html;charset=UTF-8")
        .body(page.as_bytes()))
}
