//! `PUT /tyk/apis/{id}`: writes a definition's file anew. It is served after the next reload.

use super::{Call, add_api};
use crate::answering::answer::Answer;
use crate::keys::control::{Control, changed, error};

pub(super) fn answer(control: &Control, call: &Call, id: &str) -> Answer {
    let (own, text) = match add_api::definition(call) {
        Ok(read) => read,
        Err(refused) => return refused,
    };
    if own != id {
        let message = "Request APIID does not match that in Definition! For Update operations these must match.";
        return error(400, message);
    }
    match super::file_of(control, id) {
        Err(refused) => refused,
        Ok(Some(file)) => add_api::write(&file, text).unwrap_or_else(|| changed(id, "modified")),
        Ok(None) => error(404, "API not found"),
    }
}
