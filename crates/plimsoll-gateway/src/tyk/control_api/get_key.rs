//! `GET /tyk/keys/{id}`: the session of a key, with what is left of its quota.

use super::Call;
use crate::answering::answer::Answer;
use crate::keys::control::{Control, error, json_answer};
use crate::keys::key::Key;
use plimsoll_http::clock::unix_seconds;

pub(super) fn answer(control: &Control, call: &Call, id: &str) -> Answer {
    if call.says("hashed") && !control.settings().key_rules.hashed {
        let message = "Key requested by hash but key hashing is not enabled";
        return error(400, message);
    }
    let hash = call.hash(id);
    let now = unix_seconds();
    let look = |key: &Key| (!key.has_left(now)).then(|| key.session(now));
    match hash
        .and_then(|hash| control.keys.with(hash, look))
        .flatten()
    {
        Some(session) => json_answer(200, &session),
        None => error(404, "Key not found"),
    }
}
