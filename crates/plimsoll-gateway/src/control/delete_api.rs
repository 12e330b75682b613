//! `DELETE /tyk/apis/{id}`: removes a definition's file. It is served until the next reload.

use super::{Call, Control, changed, error};
use crate::answer::Answer;

pub(super) fn answer(control: &Control, _: &Call, id: &str) -> Answer {
    match control.file_of(id).filter(|file| file.is_file()) {
        None => error(404, "API not found"),
        Some(file) => match std::fs::remove_file(file) {
            Ok(()) => changed(id, "deleted"),
            Err(why) => error(500, format!("Delete failed: {why}")),
        },
    }
}
