//! State of Tyk's control API: keys and how they are made, the definitions that are served, its secret. It outlives every reload.
//!
//! Its endpoints are [`crate::tyk::control_api`].

mod first_keys;
pub(crate) mod new_key;

use crate::answering::answer::Answer;
use crate::keys::grant::Policies;
use crate::keys::key::Quotas;
use crate::keys::lifetime::{ApiLifetime, Lifetimes};
use crate::keys::name::Form;
use crate::keys::redis::Link;
use crate::keys::{KeyHash, KeyStore, Limits};
use plimsoll_base::digest::Digest;
use plimsoll_base::document::{Document, Problems};
use plimsoll_base::log::Log;
use plimsoll_http::clock::{self, unix_seconds};
use plimsoll_redis::RedisConf;
use plimsoll_secrets::Secret;
use serde::Serialize;
use serde_json::json;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

/// Where the API begins.
pub(crate) const PREFIX: &str = "/tyk";
/// Between two lines about calls with a wrong secret, in seconds.
const BETWEEN_LINES: u64 = 1;

/// Reads everything anew and serves it; `Err` says why the old lives on.
pub(crate) type Reload = Box<dyn Fn() -> Result<(), String> + Send + Sync>;

/// Settings of the API that do not change while the gateway runs.
pub(crate) struct ControlSettings {
    pub(crate) secret: Secret,
    pub(crate) key_rules: KeyRules,
    /// Lifetimes of keys of all APIs.
    pub(crate) lifetimes: Lifetimes,
    pub(crate) redis: Option<RedisConf>,
    /// Where definitions are.
    pub(crate) app_path: PathBuf,
    /// The paths that answer whether it lives, and whether it takes requests.
    pub(crate) health_paths: [String; 2],
}

/// Rules for keys that are made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyRules {
    /// Keys are shown as hashes alone.
    pub(crate) hashed: bool,
    /// How they are called.
    pub(crate) form: Form,
    pub(crate) listing: bool,
    pub(crate) shortest: usize,
    pub(crate) master_keys: bool,
}

/// A definition, for whoever lists them.
#[derive(Debug, Clone)]
pub(crate) struct ApiEntry {
    pub(crate) id: String,
    /// How long keys that open it are there.
    pub(crate) lifetime: ApiLifetime,
    /// The file's content.
    pub(crate) document: Document,
}

/// State that the endpoints work on.
pub(crate) struct Control {
    settings: ControlSettings,
    pub(crate) keys: Arc<KeyStore>,
    /// The definitions that are served now. Blocking: calls alone take it.
    apis: RwLock<Arc<Vec<ApiEntry>>>,
    /// Policies and definitions that were read, and are in force when the configuration is that came of them.
    read: Mutex<Option<(Policies, Vec<ApiEntry>)>>,
    /// Keys that were made before the gateway ran.
    made: Mutex<Vec<KeyHash>>,
    /// Handles of a running gateway: set once, when it starts.
    running: OnceLock<Running>,
    /// When a wrong secret was last told, in seconds since 1970, and how many were not since.
    told: AtomicU64,
    untold: AtomicU64,
}

/// Handles that are there while the gateway runs.
struct Running {
    log: Log,
    reload: Reload,
    /// The Redis that is named, if one is.
    redis: Option<Link>,
}

impl Control {
    /// That of a gateway with these settings, and what it serves first.
    pub(crate) fn new(settings: ControlSettings, apis: Vec<ApiEntry>, policies: Policies) -> Self {
        let keys = KeyStore::new(Limits::default());
        keys.set_policies(policies);
        Self {
            settings,
            keys: Arc::new(keys),
            apis: RwLock::new(Arc::new(apis)),
            read: Mutex::default(),
            made: Mutex::default(),
            running: OnceLock::new(),
            told: AtomicU64::new(0),
            untold: AtomicU64::new(0),
        }
    }

    pub(crate) fn settings(&self) -> &ControlSettings {
        &self.settings
    }

    /// Definitions and policies were read anew. They count when the configuration does: see [`Self::put_in_force`].
    pub(crate) fn have_read(&self, apis: Vec<ApiEntry>, policies: Policies) {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        *read = Some((policies, apis));
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
        let conf = self.settings.redis.as_ref();
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

    pub(crate) fn redis(&self) -> Option<&Link> {
        self.running.get()?.redis.as_ref()
    }

    /// Makes, changes or withdraws a key by `apply`, and tells those who share it if that says that it has; says the same.
    pub(crate) fn change(
        &self,
        hash: KeyHash,
        quotas: Quotas,
        apply: impl FnOnce() -> bool,
    ) -> bool {
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

    /// Whether a caller says the secret. Hashes are compared, so that the time taken says nothing about it.
    pub(crate) fn knows(&self, secret: Option<&[u8]>) -> bool {
        let said = secret.map(Digest::of);
        // A secret that is withheld is nobody's.
        said.is_some() && said == self.settings.secret.digest()
    }

    /// Tells the operator of a call of this peer, which does not know the secret; not of each that follows soon.
    pub(crate) fn tell_of_stranger(&self, peer: &str) {
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
                let line = format!("control API: wrong or missing secret from {peer}{before}");
                (running.log)(&line);
            }
            _ => {
                self.untold.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Reads everything anew and serves it; `None` while the gateway starts.
    ///
    /// # Errors
    /// Why the old lives on.
    pub(crate) fn reload(&self) -> Option<Result<(), String>> {
        self.running.get().map(|running| (running.reload)())
    }

    /// Makes the keys of a file: see [`first_keys`].
    ///
    /// # Errors
    /// Every problem of the text.
    pub(crate) fn make_keys(&self, name: &str, text: &str) -> Result<(), Problems> {
        first_keys::make(self, name, text)
    }

    /// Whether there is such a key now.
    pub(crate) fn has(&self, hash: KeyHash) -> bool {
        let now = unix_seconds();
        self.keys.with(hash, |key| !key.has_left(now)) == Some(true)
    }

    /// How long keys are there that are made now.
    fn lifetimes(&self) -> Lifetimes {
        let apis = self.apis();
        let each = apis.iter().map(|api| (api.id.clone(), api.lifetime));
        Lifetimes {
            apis: each.collect(),
            ..self.settings.lifetimes.clone()
        }
    }

    pub(crate) fn apis(&self) -> Arc<Vec<ApiEntry>> {
        Arc::clone(&self.apis.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// An answer of JSON.
pub(crate) fn json_answer(status: u16, body: &impl Serialize) -> Answer {
    let body = serde_json::to_string(body).expect("invariant: keys are text");
    Answer::new(status, "").with_body("application/json", body)
}

/// Tyk's form of an error.
pub(crate) fn error(status: u16, message: impl Into<String>) -> Answer {
    let message = message.into();
    let body = json!({ "status": "error", "message": &message });
    Answer::new(status, message).with_body("application/json", body.to_string())
}

/// Tyk's form of a change that was made.
pub(crate) fn changed(key: &str, action: &str) -> Answer {
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
