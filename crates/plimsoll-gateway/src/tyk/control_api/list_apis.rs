//! `GET /tyk/apis`: every definition that was loaded, as its file has it.

use super::Call;
use crate::answering::answer::Answer;
use crate::keys::control::{Control, json_answer};

pub(super) fn answer(control: &Control, _: &Call, _: &str) -> Answer {
    let apis = control.apis();
    let documents: Vec<_> = apis.iter().map(|api| api.document.root()).collect();
    json_answer(200, &documents)
}
