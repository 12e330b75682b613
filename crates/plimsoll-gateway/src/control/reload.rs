//! `GET /tyk/reload`, with or without `group` and `block`: reads definitions and policies anew. It answers when they are served; where
//! they cannot be, the old ones live on and it says why.

use super::{Call, Control, error, json_answer};
use crate::answer::Answer;
use serde_json::json;

pub(super) fn answer(control: &Control, _: &Call, _: &str) -> Answer {
    let Some(running) = control.running.get() else {
        return error(503, "the gateway is starting");
    };
    match (running.reload)() {
        Ok(()) => json_answer(200, &json!({ "status": "ok", "message": "" })),
        Err(why) => error(500, why),
    }
}
