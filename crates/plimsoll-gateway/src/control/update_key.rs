//! `PUT /tyk/keys/{id}`: another session for a key. `suppress_reset=1` keeps what is used of its quota, `hashed=true` says that the path
//! has the hash.

use super::{Call, Control, error, new_key};
use crate::answer::Answer;
use crate::keys::store::Quotas;

pub(super) fn answer(control: &Control, call: &Call, id: &str) -> Answer {
    let unknown = || error(404, "Key is not found");
    let Some(hash) = call.hash(id) else {
        return unknown();
    };
    if control.keys.with(hash, |_| ()).is_none() {
        return unknown();
    }
    let quotas = match call.says("suppress_reset") {
        true => Quotas::Keep,
        false => Quotas::Reset,
    };
    match new_key::session(control, call) {
        Ok(session) => new_key::put(control, (hash, id), session, ("modified", quotas)),
        Err(refused) => refused,
    }
}
