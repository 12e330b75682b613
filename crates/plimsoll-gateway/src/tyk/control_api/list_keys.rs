//! `GET /tyk/keys`: every key, in plaintext or as its hash.

use super::Call;
use crate::answering::answer::Answer;
use crate::keys::control::{Control, error, json_answer};
use plimsoll_http::clock::unix_seconds;
use serde_json::json;

pub(super) fn answer(control: &Control, _: &Call, _: &str) -> Answer {
    let rules = control.settings().key_rules;
    if rules.hashed && !rules.listing {
        let message = "Hashed key listing is disabled in config (enable_hashed_keys_listing)";
        return error(404, message);
    }
    json_answer(200, &json!({ "keys": control.keys.list(unix_seconds()) }))
}
