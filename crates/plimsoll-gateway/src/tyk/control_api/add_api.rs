//! `POST /tyk/apis`: writes a definition's file. It is served after the next reload.

use super::Call;
use crate::answering::answer::Answer;
use crate::keys::control::{Control, changed, error};
use crate::tyk;
use plimsoll_base::document::Document;
use plimsoll_base::ignored::Ignored as _;
use serde_json::Value;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) fn answer(control: &Control, call: &Call, _: &str) -> Answer {
    let (id, text) = match definition(call) {
        Ok(read) => read,
        Err(refused) => return refused,
    };
    match super::place_of(control, &id) {
        Ok(file) => write(&file, text).unwrap_or_else(|| changed(&id, "added")),
        Err(refused) => refused,
    }
}

/// The definition that a call brings, which is sound, and its id.
pub(super) fn definition(call: &Call) -> Result<(String, &str), Answer> {
    let text = std::str::from_utf8(&call.body).map_err(|_| error(400, "Request malformed"))?;
    if serde_json::from_str::<Value>(text).is_err() {
        return Err(error(400, "Request malformed"));
    }
    let document = Document::parse_json("definition", text);
    document
        .and_then(|document| tyk::check_definition("definition", document))
        .map_err(|problems| error(400, problems.to_string()))?;
    match tyk::written_id(text) {
        Some(id) => Ok((id, text)),
        None => Err(error(400, "the definition has no `api_id`: add one")),
    }
}

/// Writes a file whole or not at all; the refusal, if it cannot be.
pub(super) fn write(file: &Path, text: &str) -> Option<Answer> {
    let directory = file.parent().unwrap_or(Path::new("."));
    let written = temporary(directory).and_then(|(path, mut own)| {
        let written = own.write_all(text.as_bytes()).and_then(|()| own.sync_all());
        let written = written.and_then(|()| std::fs::rename(&path, file));
        if written.is_err() {
            std::fs::remove_file(&path)
                .ignored("its rest is no definition, and the answer says that the disk fails");
        }
        written
    });
    written.err().map(|why| {
        error(
            500,
            format!("File object creation failed, write error: {why}"),
        )
    })
}

/// A new file beside the one that it will become, of a name that no other has. Definitions end on `.json`, so this one is none.
fn temporary(directory: &Path) -> std::io::Result<(PathBuf, File)> {
    static MADE: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = directory.join(format!(".plimsoll-{}-{number}.tmp", std::process::id()));
        match File::create_new(&path) {
            // A process of the same number may have left one behind.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            made => return made.map(|file| (path, file)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_at_the_same_time_write_each_a_whole_file() {
        let directory = tempfile::tempdir().unwrap();
        let texts = ["a".repeat(100_000), "b".repeat(200_000)];
        std::thread::scope(|scope| {
            for text in &texts {
                let file = directory.path().join(format!("{}.json", &text[..1]));
                scope.spawn(move || {
                    for _ in 0..50 {
                        assert!(write(&file, text).is_none());
                        assert_eq!(std::fs::read_to_string(&file).unwrap().len(), text.len());
                    }
                });
            }
        });
        assert!(write(directory.path(), "a directory is in its place").is_some());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
    }
}
