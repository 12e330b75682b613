//! `/hello`: that it lives, and what it depends on. Always 200, as Tyk's.

use super::Call;
use crate::answering::answer::Answer;
use crate::keys::control::{Control, error, json_answer};
use plimsoll_http::clock::unix_seconds;
use serde_json::json;

pub(super) fn answer(control: &Control, call: &Call, _: &str) -> Answer {
    if !matches!(&*call.method, "GET" | "HEAD") {
        return error(405, "Method not supported");
    }
    let now = jiff::Timestamp::from_second(i64::from(unix_seconds())).unwrap_or_default();
    let redis = control
        .redis()
        .map(|redis| if redis.is_up() { "pass" } else { "fail" });
    let details = match redis {
        Some(status) => {
            json!({ "redis": { "status": status, "componentType": "datastore", "time": now.to_string() } })
        }
        None => json!({}),
    };
    let body = json!({
        "status": redis.unwrap_or("pass"),
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Tyk GW",
        "details": details,
    });
    json_answer(200, &body)
}
