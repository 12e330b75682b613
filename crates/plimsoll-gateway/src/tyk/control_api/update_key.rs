//! `PUT /tyk/keys/{id}`: another session for a key. `suppress_reset=1` keeps what is used of its quota, `hashed=true` says that the path
//! has the hash.

use super::Call;
use crate::answering::answer::Answer;
use crate::keys::control::new_key::{self, Put};
use crate::keys::control::{Control, error};
use crate::keys::key::Quotas;

pub(super) fn answer(control: &Control, call: &Call, id: &str) -> Answer {
    let unknown = || error(404, "Key is not found");
    let Some(hash) = call.hash(id) else {
        return unknown();
    };
    if !control.has(hash) {
        return unknown();
    }
    let quotas = match call.says("suppress_reset") {
        true => Quotas::Keep,
        false => Quotas::Reset,
    };
    let session = new_key::read(&call.body);
    match session.and_then(|session| new_key::admitted(control, session, || Some(hash))) {
        Ok(session) => {
            let changed = new_key::put(control, (hash, id), session, Put::Change(quotas));
            changed.unwrap_or_else(unknown)
        }
        Err(refused) => refused.answer(),
    }
}
