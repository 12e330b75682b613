//! `/ready`: whether new requests should come here: not any more from the moment the gateway is told to stop, which may be before it takes
//! none. They may without Redis, too; Tyk's then says no.

use super::Call;
use crate::answering::answer::Answer;
use crate::keys::control::{Control, error, json_answer};
use serde_json::json;

pub(super) fn answer(_: &Control, call: &Call, _: &str) -> Answer {
    if !matches!(&*call.method, "GET" | "HEAD") {
        return error(405, "Method not supported");
    }
    if call.leaving {
        return error(503, "Server is shutting down");
    }
    let body = json!({
        "status": "pass",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Tyk GW Ready",
    });
    json_answer(200, &body)
}
