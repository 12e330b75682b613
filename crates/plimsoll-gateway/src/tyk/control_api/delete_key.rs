//! `DELETE /tyk/keys/{id}`: from now on the key opens nothing.

use super::Call;
use crate::answering::answer::Answer;
use crate::keys::control::{Control, changed, error};
use crate::keys::key::Quotas;

pub(super) fn answer(control: &Control, call: &Call, id: &str) -> Answer {
    // One that has left is not there, even where nobody has swept it away yet.
    let remove = |hash| {
        let is_there = control.has(hash);
        control.change(hash, Quotas::Reset, || control.keys.remove(hash)) && is_there
    };
    let removed = call.hash(id).is_some_and(remove);
    match (removed, call.parameter("api_id")) {
        (false, _) => error(404, "There is no such key found"),
        (true, Some("-1")) => Answer::new(200, "").with_body("application/json", "null".to_owned()),
        (true, _) => changed(id, "deleted"),
    }
}
