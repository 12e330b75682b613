//! `POST /tyk/apis`: writes a definition's file. It is served after the next reload.

use super::{Call, Control, changed, error};
use crate::answer::Answer;
use crate::tyk;
use serde_json::Value;
use std::io::Write as _;
use std::path::Path;

pub(super) fn answer(control: &Control, call: &Call, _: &str) -> Answer {
    let (id, text) = match definition(call) {
        Ok(read) => read,
        Err(refused) => return refused,
    };
    let Some(file) = control.file_of(&id) else {
        let message = "`api_id` becomes the name of a file: write letters, digits, `-` and `_`";
        return error(400, message);
    };
    write(&file, text).unwrap_or_else(|| changed(&id, "added"))
}

/// The definition that a call brings, which is sound, and its id.
pub(super) fn definition(call: &Call) -> Result<(String, &str), Answer> {
    let text = std::str::from_utf8(&call.body).map_err(|_| error(400, "Request malformed"))?;
    let json: Value = serde_json::from_str(text).map_err(|_| error(400, "Request malformed"))?;
    tyk::check_definition("definition", text)
        .map_err(|problems| error(400, problems.to_string()))?;
    match json["api_id"].as_str() {
        Some(id) if !id.is_empty() => Ok((id.to_owned(), text)),
        _ => Err(error(400, "the definition has no `api_id`: add one")),
    }
}

/// Writes a file whole or not at all; the refusal, if it cannot be.
pub(super) fn write(file: &Path, text: &str) -> Option<Answer> {
    let directory = file.parent().unwrap_or(Path::new("."));
    let written = tempfile(directory, text).and_then(|(path, _)| std::fs::rename(path, file));
    written.err().map(|why| {
        error(
            500,
            format!("File object creation failed, write error: {why}"),
        )
    })
}

/// A new file beside the one that it will become. Definitions end on `.json`, so this one is none.
fn tempfile(directory: &Path, text: &str) -> std::io::Result<(std::path::PathBuf, std::fs::File)> {
    let path = directory.join(format!(".plimsoll-{}.tmp", std::process::id()));
    let mut file = std::fs::File::create(&path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    Ok((path, file))
}
