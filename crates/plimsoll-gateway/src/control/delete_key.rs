//! `DELETE /tyk/keys/{id}`: from now on the key opens nothing.

use super::{Call, Control, changed, error};
use crate::answer::Answer;
use crate::keys::store::Quotas;

pub(super) fn answer(control: &Control, call: &Call, id: &str) -> Answer {
    let removed = call.hash(id).filter(|hash| control.keys.remove(*hash));
    if let Some(hash) = removed {
        control.tell_of(hash, Quotas::Reset);
    }
    match (removed.is_some(), call.parameter("api_id")) {
        (false, _) => error(404, "There is no such key found"),
        (true, Some("-1")) => Answer::new(200, "").with_body("application/json", "null".to_owned()),
        (true, _) => changed(id, "deleted"),
    }
}
