//! `/hello`: that it lives, and what it depends on. Always 200, as Tyk's.

use super::{Call, Control, error, json_answer};
use crate::answer::Answer;
use serde_json::json;

pub(super) fn answer(_: &Control, call: &Call, _: &str) -> Answer {
    if !matches!(&*call.method, "GET" | "HEAD") {
        return error(405, "Method not supported");
    }
    let body = json!({
        "status": "pass",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Tyk GW",
        "details": {},
    });
    json_answer(200, &body)
}
