//! `GET /files`; `GET`, `PUT` and `DELETE /files/{path}`: body files below `__files`. Stubs that answer with a changed file are read again.

use super::error::AdminError;
use super::{Admin, AdminRequest};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use plimsoll_wiremock::response::answer::{Answer, AnswerBuilder};
use serde_json::json;

pub(super) fn list(admin: &Admin, _: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let names = admin.body_files().list();
    let names = names.map_err(|message| AdminError::internal(&message))?;
    // Spaced as WireMock spaces it, for those who compare texts.
    let names: Vec<String> = names.iter().map(|name| json!(name).to_string()).collect();
    let list = match &*names {
        [] => "[ ]".to_owned(),
        names => format!("[ {} ]", names.join(", ")),
    };
    Ok(Answer::json_text(200, &list))
}

pub(super) fn get(admin: &Admin, _: &AdminRequest, name: &str) -> Result<Answer, AdminError> {
    let bytes = admin.body_files().read(name);
    let bytes = bytes.map_err(|_| AdminError::absent())?;
    Ok(AnswerBuilder::new(200, None).body(&bytes))
}

pub(super) fn put(admin: &Admin, request: &AdminRequest, name: &str) -> Result<Answer, AdminError> {
    let written = admin.body_files().write(name, &request.body);
    written.map_err(|message| AdminError::bad_parameter(&message))?;
    admin.read_again(name)?;
    Ok(Answer::json(200, &json!(BASE64.encode(&request.body))))
}

/// A file that is gone stays in the stubs that were read with it.
pub(super) fn remove(admin: &Admin, _: &AdminRequest, name: &str) -> Result<Answer, AdminError> {
    let removed = admin.body_files().remove(name);
    removed.map_err(|message| AdminError::bad_parameter(&message))?;
    Ok(AnswerBuilder::new(200, None).body(b""))
}
