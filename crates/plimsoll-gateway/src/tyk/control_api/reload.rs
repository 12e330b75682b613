//! `GET /tyk/reload`, with or without `group` and `block`: reads definitions and policies anew. It answers when they are served; where
//! they cannot be, the old ones live on and it says why.

use super::Call;
use crate::answering::answer::Answer;
use crate::keys::control::{Control, error, json_answer};
use serde_json::json;

pub(super) fn answer(control: &Control, _: &Call, _: &str) -> Answer {
    match control.reload() {
        None => error(503, "the gateway is starting"),
        Some(Ok(())) => json_answer(200, &json!({ "status": "ok", "message": "" })),
        Some(Err(why)) => error(500, why),
    }
}
