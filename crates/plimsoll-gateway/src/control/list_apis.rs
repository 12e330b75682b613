//! `GET /tyk/apis`: every definition that was loaded, as its file has it.

use super::{Call, Control, json_answer};
use crate::answer::Answer;

pub(super) fn answer(control: &Control, _: &Call, _: &str) -> Answer {
    let apis = control.apis();
    let documents: Vec<_> = apis.iter().map(|api| api.document.root()).collect();
    json_answer(200, &documents)
}
