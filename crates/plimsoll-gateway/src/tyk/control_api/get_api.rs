//! `GET /tyk/apis/{id}`: one definition, as its file has it.

use super::Call;
use crate::answering::answer::Answer;
use crate::keys::control::{Control, error, json_answer};

pub(super) fn answer(control: &Control, _: &Call, id: &str) -> Answer {
    let apis = control.apis();
    match apis.iter().find(|api| api.id == id) {
        Some(api) => json_answer(200, api.document.root()),
        None => error(404, "API not found"),
    }
}
