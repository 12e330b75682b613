//! `POST /tyk/keys/create`: a key with a name of its own; `POST /tyk/keys/{id}`: with this one.

use super::Call;
use crate::answering::answer::Answer;
use crate::keys::control::{Control, new_key};

pub(super) fn answer(control: &Control, call: &Call, id: &str) -> Answer {
    let made = new_key::make_of(control, || new_key::read(&call.body), id);
    made.unwrap_or_else(new_key::Refused::answer)
}
