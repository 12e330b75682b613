//! `DELETE /tyk/apis/{id}`: removes the file that holds an API's definition. It is served until the next reload.

use super::Call;
use crate::answering::answer::Answer;
use crate::keys::control::{Control, changed, error};

pub(super) fn answer(control: &Control, _: &Call, id: &str) -> Answer {
    match super::file_of(control, id) {
        Err(refused) => refused,
        Ok(None) => error(404, "API not found"),
        Ok(Some(file)) => match std::fs::remove_file(file) {
            Ok(()) => changed(id, "deleted"),
            Err(why) => error(500, format!("Delete failed: {why}")),
        },
    }
}
