//! A change of a key, as Redis is told it.

use super::ends::{end_with_key, keep_scopes};
use super::stream::{CHANGES, KEPT, MADE, STREAM_LENGTH, WITHDRAWN};
use crate::keys::key::{Key, Quotas as Becomes};
use crate::keys::redis::account::{Account, scopes_name};
use crate::keys::redis::changes::Waiting;
use crate::keys::{KeyHash, KeyStore};
use redis::Pipeline;

/// A change that Redis is told, with the key as it is at that moment.
pub(super) struct Change {
    pub(super) hash: KeyHash,
    quotas: Becomes,
    /// `None`: it is gone.
    key: Option<Held>,
}

/// Redis' record of a key.
struct Held {
    session: String,
    /// When it is forgotten, if it is.
    forgotten: Option<u32>,
    /// The scopes of its accounts that are never renewed.
    lasting: Vec<Option<Box<str>>>,
}

impl Change {
    pub(super) fn of((hash, waiting): (KeyHash, Waiting), keys: &KeyStore) -> Self {
        let held = |key: &Key| Held {
            session: key.shared_text(),
            forgotten: key.forgotten_at(),
            lasting: key.lasting_accounts(),
        };
        Self {
            hash,
            quotas: waiting.quotas,
            key: keys.with(hash, held),
        }
    }

    /// Whether nothing of its key's quotas is used up after it.
    pub(super) fn ends_quotas(&self) -> bool {
        self.quotas == Becomes::Reset || self.key.is_none()
    }

    /// The commands for Redis by the gateway of this name. With the key's quotas those of these scopes end.
    pub(super) fn said(&self, name: &str, scopes: Vec<String>) -> Pipeline {
        let mut request = redis::pipe();
        let hex = self.hash.to_hex();
        let key = format!("apikey-{hex}");
        if self.ends_quotas() {
            forget_quotas(&mut request, self.hash, scopes);
        }
        let said = match (&self.key, self.quotas) {
            (None, _) => WITHDRAWN,
            (Some(_), Becomes::Reset) => MADE,
            (Some(_), Becomes::Keep) => KEPT,
        };
        match &self.key {
            Some(held) => {
                let set = request.cmd("SET").arg(key).arg(&held.session);
                // Without it the key is there for good, whatever was said before.
                if let Some(at) = held.forgotten {
                    set.arg("EXAT").arg(at);
                }
                if !self.ends_quotas() {
                    keep_quotas(&mut request, self.hash, held);
                }
            }
            None => _ = request.cmd("DEL").arg(key),
        }
        let add = request.cmd("XADD").arg(CHANGES).arg("MAXLEN").arg("~");
        add.arg(STREAM_LENGTH).arg("*");
        for word in ["k", &hex, "r", said, "g", name] {
            add.arg(word);
        }
        request
    }
}

/// Has the quotas of a key that are never renewed end when it does, be that sooner or later than it was.
fn keep_quotas(request: &mut Pipeline, hash: KeyHash, held: &Held) {
    for scope in &held.lasting {
        let scope = scope.clone();
        end_with_key(request, &Account { hash, scope }.name(), held.forgotten);
    }
    if held.lasting.iter().any(Option::is_some) {
        keep_scopes(request, hash, held.forgotten.unwrap_or(u32::MAX));
    }
}

/// Takes a key's quotas away, those of these scopes and that of the key as a whole.
fn forget_quotas(request: &mut Pipeline, hash: KeyHash, scopes: Vec<String>) {
    let account = |scope: Option<Box<str>>| Account { hash, scope };
    let gone = request.cmd("DEL").arg(account(None).name());
    for scope in &scopes {
        gone.arg(account(Some(scope.as_str().into())).name());
    }
    if !scopes.is_empty() {
        // What another gateway has added meanwhile is still named there.
        let unnamed = request.cmd("SREM").arg(scopes_name(hash));
        unnamed.arg(scopes);
    }
}
