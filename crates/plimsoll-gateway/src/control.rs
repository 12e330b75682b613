//! Tyk's control API: keys, definitions, reload, health. Each endpoint is a file of its own.
//!
//! It is reached on the listener itself, below `/tyk`, and knows its callers by a secret. Endpoints may block (they read files), so they
//! run beside the shards. What of Tyk's API there is not is refused by name.

mod add_api;
mod create_key;
mod delete_api;
mod delete_key;
pub(crate) mod first_keys;
mod get_api;
mod get_key;
mod hello;
mod list_apis;
mod list_keys;
mod new_key;
mod ready;
mod reload;
mod update_api;
mod update_key;

use crate::answer::Answer;
use crate::clock;
use crate::digest::Digest;
use crate::keys::key::Quotas;
use crate::keys::lifetime::Lifetimes;
use crate::keys::redis::Link;
use crate::keys::terms::Policies;
use crate::keys::{KeyHash, KeyStore, Limits};
use crate::log::Log;
use crate::secrets::Secret;
use crate::tyk::{self, ApiEntry, Loaded, Settings};
use plimsoll_base::document::Problems;
use serde::Serialize;
use serde_json::json;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

/// Where the API begins.
pub(crate) const PREFIX: &str = "/tyk";
/// Bytes that a call's body may have.
pub(crate) const MOST_BODY: usize = 1024 * 1024;
/// Between two lines about calls with a wrong secret, in seconds.
const BETWEEN_LINES: u64 = 1;

/// What reads everything anew and serves it; `Err` says why the old lives on.
pub(crate) type Reload = Box<dyn Fn() -> Result<(), String> + Send + Sync>;

/// What the endpoints work on. It outlives every reload.
pub(crate) struct Control {
    settings: Settings,
    secret: Secret,
    pub(crate) keys: Arc<KeyStore>,
    /// The definitions that are served now. Blocking: calls alone take it.
    apis: RwLock<Arc<Vec<ApiEntry>>>,
    /// Policies and definitions that were read, and are in force when the configuration is that came of them.
    read: Mutex<Option<(Policies, Vec<ApiEntry>)>>,
    /// Keys that were made before the gateway ran.
    made: Mutex<Vec<KeyHash>>,
    /// What a running gateway can do: set once, when it starts.
    running: OnceLock<Running>,
    /// When a wrong secret was last told, in seconds since 1970, and how many were not since.
    told: AtomicU64,
    untold: AtomicU64,
}

/// What is there while the gateway runs.
struct Running {
    log: Log,
    reload: Reload,
    /// The Redis that is named, if one is.
    redis: Option<Link>,
}

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

impl Control {
    /// The API of a gateway with these settings, and what it serves first.
    ///
    /// # Errors
    /// Every problem of the files.
    pub(crate) fn new(settings: Settings) -> Result<(Self, Loaded), Problems> {
        let loaded = settings.load()?;
        let keys = KeyStore::new(Limits::default());
        keys.set_policies(loaded.policies.clone());
        let control = Self {
            secret: settings.secret().clone(),
            settings,
            keys: Arc::new(keys),
            apis: RwLock::new(Arc::new(loaded.apis.clone())),
            read: Mutex::default(),
            made: Mutex::default(),
            running: OnceLock::new(),
            told: AtomicU64::new(0),
            untold: AtomicU64::new(0),
        };
        Ok((control, loaded))
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Reads definitions and policies anew. They count when the configuration does: see [`Self::put_in_force`].
    ///
    /// # Errors
    /// Every problem of the files; then everything stays as it is.
    pub(crate) fn load(&self) -> Result<Loaded, Problems> {
        let loaded = self.settings.load()?;
        let read = (loaded.policies.clone(), loaded.apis.clone());
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = Some(read);
        Ok(loaded)
    }

    /// The configuration that was loaded last is served from now on.
    pub(crate) fn put_in_force(&self) {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((policies, apis)) = read.take() {
            self.keys.set_policies(policies);
            let mut served = self.apis.write().unwrap_or_else(PoisonError::into_inner);
            *served = Arc::new(apis);
        }
    }

    /// The gateway runs, and is called `name` among those that share a Redis.
    ///
    /// # Errors
    /// When the thread that talks to Redis cannot be made.
    pub(crate) fn start(&self, name: &str, log: Log, reload: Reload) -> io::Result<()> {
        let conf = self.settings.redis();
        let made = std::mem::take(&mut *self.made.lock().unwrap_or_else(PoisonError::into_inner));
        let link = |conf| {
            Link::start(
                conf,
                name.to_owned(),
                Arc::clone(&self.keys),
                &made,
                Arc::clone(&log),
            )
        };
        let redis = conf.map(link).transpose()?;
        if self.running.set(Running { log, reload, redis }).is_err() {
            // It runs already, and goes on with what it was given then.
        }
        Ok(())
    }

    /// The gateway has stopped: hands on to Redis what it has not heard of, and says how many changes that did not reach.
    pub(crate) fn stop(&self) -> u64 {
        self.redis().map_or(0, Link::stop)
    }

    fn redis(&self) -> Option<&Link> {
        self.running.get()?.redis.as_ref()
    }

    /// Makes, changes or withdraws a key by `apply`, and tells those who share it if that says that it has; says the same.
    fn change(&self, hash: KeyHash, quotas: Quotas, apply: impl FnOnce() -> bool) -> bool {
        if let Some(redis) = self.redis() {
            return redis.change(hash, quotas, apply);
        }
        let is_changed = apply();
        if is_changed && self.running.get().is_none() {
            let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
            made.push(hash);
        }
        is_changed
    }

    /// Answers a call whose body does not matter: about health, or of somebody who does not know the secret.
    pub(crate) fn answer_without_body(&self, call: &Call) -> Option<Answer> {
        let [hello, ready] = self.settings.health_paths();
        let path = call.path.trim_end_matches('/');
        if path == hello {
            return Some(hello::answer(self, call, ""));
        }
        if path == ready {
            return Some(ready::answer(self, call, ""));
        }
        self.refuse_stranger(call)
    }

    /// Answers any other call. It may block.
    pub(crate) fn answer(&self, call: &Call) -> Answer {
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
                    return endpoint(self, call, id);
                }
            }
        }
        match is_known {
            true => error(405, "Method not supported"),
            false => error(404, "there is no such endpoint"),
        }
    }

    /// The refusal of a call without the secret. Hashes are compared, so that the time taken says nothing about it.
    fn refuse_stranger(&self, call: &Call) -> Option<Answer> {
        let said = call.secret.as_deref().map(Digest::of);
        // A secret that is withheld is nobody's.
        let known = said.is_some() && said == self.secret.digest();
        if known {
            return None;
        }
        let now = clock::since_epoch().as_secs();
        let told = self.told.load(Ordering::Relaxed);
        let is_due = now >= told + BETWEEN_LINES
            && (self
                .told
                .compare_exchange(told, now, Ordering::Relaxed, Ordering::Relaxed))
            .is_ok();
        match (is_due, self.running.get()) {
            (true, Some(running)) => {
                let before = match self.untold.swap(0, Ordering::Relaxed) {
                    0 => String::new(),
                    count => format!(", and {count} calls before"),
                };
                let line = format!(
                    "control API: wrong or missing secret from {}{before}",
                    call.peer
                );
                (running.log)(&line);
            }
            _ => {
                self.untold.fetch_add(1, Ordering::Relaxed);
            }
        }
        let message = "Attempted administrative access with invalid or missing key!";
        Some(error(403, message))
    }

    /// Whether there is such a key now.
    fn has(&self, hash: KeyHash) -> bool {
        let now = now();
        self.keys.with(hash, |key| !key.has_left(now)) == Some(true)
    }

    /// How long keys are there that are made now.
    fn lifetimes(&self) -> Lifetimes {
        let apis = self.apis();
        let each = apis.iter().map(|api| (api.id.clone(), api.lifetime));
        Lifetimes {
            apis: each.collect(),
            ..self.settings.lifetimes()
        }
    }

    fn apis(&self) -> Arc<Vec<ApiEntry>> {
        Arc::clone(&self.apis.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The file that holds the definition of an API now, whatever the file is called.
    ///
    /// # Errors
    /// The answer, if that cannot be known.
    fn file_of(&self, id: &str) -> Result<Option<PathBuf>, Answer> {
        let file = tyk::file_of(self.settings.app_path(), id);
        file.map_err(|problems| error(500, problems.to_string()))
    }

    /// Where a definition would be written: over its own file, or as a new one.
    ///
    /// # Errors
    /// For an id that is no file's name, and where another API's file is in the way.
    fn place_of(&self, id: &str) -> Result<PathBuf, Answer> {
        if let Some(file) = self.file_of(id)? {
            return Ok(file);
        }
        let is_letter = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
        if id.is_empty() || id.len() > 128 || !id.bytes().all(is_letter) {
            let message = "`api_id` becomes the name of a file: write letters, digits, `-` and `_`";
            return Err(error(400, message));
        }
        let file = self.settings.app_path().join(format!("{id}.json"));
        match file.exists() {
            true => Err(error(
                500,
                format!("`{id}.json` holds another API: rename that file"),
            )),
            false => Ok(file),
        }
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

/// What `{id}` stands for where `path` is of this pattern, empty if it has none.
fn capture<'a>(pattern: &str, path: &'a str) -> Option<&'a str> {
    match pattern.strip_suffix("{id}") {
        None => (pattern == path).then_some(""),
        Some(before) => path
            .strip_prefix(before)
            .filter(|id| !id.is_empty() && !id.contains('/')),
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> u32 {
    u32::try_from(clock::since_epoch().as_secs()).unwrap_or(u32::MAX)
}

/// An answer of JSON.
fn json_answer(status: u16, body: &impl Serialize) -> Answer {
    let body = serde_json::to_string(body).expect("invariant: keys are text");
    Answer::new(status, "").with_body("application/json", body)
}

/// Tyk's form of an error.
fn error(status: u16, message: impl Into<String>) -> Answer {
    let message = message.into();
    let body = json!({ "status": "error", "message": &message });
    Answer::new(status, message).with_body("application/json", body.to_string())
}

/// Tyk's form of a change that was made.
fn changed(key: &str, action: &str) -> Answer {
    json_answer(
        200,
        &json!({ "key": key, "status": "ok", "action": action }),
    )
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").finish_non_exhaustive()
    }
}
