//! Tyk's control API: keys, definitions, reload, health. Each endpoint is a file of its own.
//!
//! It is reached on the listener itself, below `/tyk`, and knows its callers by a secret. Endpoints may block (they read files), so they
//! run beside the shards. What of Tyk's API there is not is refused by name. What it works on is [`crate::keys::control`]'s.

mod add_api;
mod create_key;
mod delete_api;
mod delete_key;
mod get_api;
mod get_key;
mod hello;
mod list_apis;
mod list_keys;
mod ready;
mod reload;
mod update_api;
mod update_key;

use crate::answering::answer::Answer;
use crate::keys::KeyHash;
use crate::keys::control::{Control, PREFIX, error};
use crate::tyk;
use std::path::PathBuf;

/// Bytes that a call's body may have.
pub(crate) const MOST_BODY: usize = 1024 * 1024;

/// One call.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) method: String,
    /// The whole path.
    pub(crate) path: String,
    /// Without the `?`.
    pub(crate) query: String,
    /// `X-Tyk-Authorization`.
    pub(crate) secret: Option<Vec<u8>>,
    pub(crate) body: Vec<u8>,
    /// The caller's address.
    pub(crate) peer: String,
    /// The gateway was told to stop.
    pub(crate) leaving: bool,
}

/// An endpoint: what it does with a call. The text is what `{id}` stands for.
type Endpoint = fn(&Control, &Call, &str) -> Answer;

/// Every endpoint: method, path below the prefix, what it does.
const ENDPOINTS: &[(&str, &str, Endpoint)] = &[
    ("GET", "/keys", list_keys::answer),
    ("POST", "/keys/create", create_key::answer),
    ("POST", "/keys/{id}", create_key::answer),
    ("PUT", "/keys/{id}", update_key::answer),
    ("GET", "/keys/{id}", get_key::answer),
    ("DELETE", "/keys/{id}", delete_key::answer),
    ("GET", "/apis", list_apis::answer),
    ("POST", "/apis", add_api::answer),
    ("GET", "/apis/{id}", get_api::answer),
    ("PUT", "/apis/{id}", update_api::answer),
    ("DELETE", "/apis/{id}", delete_api::answer),
    ("GET", "/reload", reload::answer),
    ("GET", "/reload/group", reload::answer),
];

/// The rest of Tyk's API: these paths, and those below them.
const LATER: &[&str] = &[
    "/keys/preview",
    "/keys/policy",
    "/org",
    "/oauth",
    "/certs",
    "/policies",
    "/cache",
    "/debug",
    "/schema",
    "/health",
    "/batch",
    "/versions",
];

/// Answers a call whose body does not matter: about health, or of somebody who does not know the secret.
pub(crate) fn answer_without_body(control: &Control, call: &Call) -> Option<Answer> {
    let [hello, ready] = &control.settings().health_paths;
    let path = call.path.trim_end_matches('/');
    if path == *hello {
        return Some(hello::answer(control, call, ""));
    }
    if path == *ready {
        return Some(ready::answer(control, call, ""));
    }
    refuse_stranger(control, call)
}

/// Answers any other call. It may block.
pub(crate) fn answer(control: &Control, call: &Call) -> Answer {
    let path = call.path.trim_end_matches('/');
    let below = path.strip_prefix(PREFIX).unwrap_or_default();
    // Before the others: some of these would be taken for a key's name.
    if LATER.iter().any(|later| is_below(later, below)) {
        return error(
            501,
            "this endpoint of Tyk's is not available in this version",
        );
    }
    let mut is_known = false;
    for (method, pattern, endpoint) in ENDPOINTS {
        if let Some(id) = capture(pattern, below) {
            is_known = true;
            if *method == call.method {
                return endpoint(control, call, id);
            }
        }
    }
    match is_known {
        true => error(405, "Method not supported"),
        false => error(404, "there is no such endpoint"),
    }
}

/// The refusal of a call without the secret.
fn refuse_stranger(control: &Control, call: &Call) -> Option<Answer> {
    if control.knows(call.secret.as_deref()) {
        return None;
    }
    control.tell_of_stranger(&call.peer);
    let message = "Attempted administrative access with invalid or missing key!";
    Some(error(403, message))
}

/// The file that holds the definition of an API now, whatever the file is called.
///
/// # Errors
/// The answer, if that cannot be known.
fn file_of(control: &Control, id: &str) -> Result<Option<PathBuf>, Answer> {
    let file = tyk::file_of(&control.settings().app_path, id);
    file.map_err(|problems| error(500, problems.to_string()))
}

/// Where a definition would be written: over its own file, or as a new one.
///
/// # Errors
/// For an id that is no file's name, and where another API's file is in the way.
fn place_of(control: &Control, id: &str) -> Result<PathBuf, Answer> {
    if let Some(file) = file_of(control, id)? {
        return Ok(file);
    }
    let is_letter = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    if id.is_empty() || id.len() > 128 || !id.bytes().all(is_letter) {
        let message = "`api_id` becomes the name of a file: write letters, digits, `-` and `_`";
        return Err(error(400, message));
    }
    let file = control.settings().app_path.join(format!("{id}.json"));
    match file.exists() {
        true => Err(error(
            500,
            format!("`{id}.json` holds another API: rename that file"),
        )),
        false => Ok(file),
    }
}

impl Call {
    /// The value of a parameter of the query.
    fn parameter(&self, name: &str) -> Option<&str> {
        let pairs = self
            .query
            .split('&')
            .filter_map(|pair| pair.split_once('='));
        pairs
            .filter(|(own, _)| *own == name)
            .map(|(_, value)| value)
            .next()
    }

    /// Whether a parameter says yes.
    fn says(&self, name: &str) -> bool {
        matches!(self.parameter(name), Some("1" | "true"))
    }

    /// The hash of the key that a path names: itself, if the call says that it is hashed.
    fn hash(&self, id: &str) -> Option<KeyHash> {
        match self.says("hashed") {
            true => KeyHash::from_hex(id),
            false => Some(KeyHash::of(id.as_bytes())),
        }
    }
}

/// Whether `path` is this one, or one below it.
fn is_below(above: &str, path: &str) -> bool {
    let rest = path.strip_prefix(above.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Value of `{id}` where `path` is of this pattern, empty if it has none.
fn capture<'a>(pattern: &str, path: &'a str) -> Option<&'a str> {
    match pattern.strip_suffix("{id}") {
        None => (pattern == path).then_some(""),
        Some(before) => path
            .strip_prefix(before)
            .filter(|id| !id.is_empty() && !id.contains('/')),
    }
}
