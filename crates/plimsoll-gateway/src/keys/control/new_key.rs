//! Making and changing a key: from the session that is written for it to a key in the store.

use super::{Control, error, json_answer};
use crate::answering::answer::Answer;
use crate::keys::KeyHash;
use crate::keys::key::{NewKey, Quotas};
use crate::keys::lifetime::AfterExpiry;
use crate::keys::name::{self, Form};
use crate::keys::session::{self, Session};
use plimsoll_base::document::Document;
use plimsoll_http::clock::unix_seconds;
use serde_json::json;
use std::cell::LazyCell;

/// Why a key is not made or changed. No [`Answer`] yet, whose body nobody reads where a file brings keys by the thousand.
#[derive(Debug, Clone)]
pub(crate) struct Refused {
    pub(crate) status: u16,
    pub(crate) message: String,
}

impl Refused {
    pub(crate) fn new(status: u16, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, message }
    }

    pub(crate) fn answer(self) -> Answer {
        error(self.status, self.message)
    }
}

/// The session that is written for a key.
pub(crate) fn read(written: &[u8]) -> Result<Session, Refused> {
    let text =
        std::str::from_utf8(written).map_err(|_| Refused::new(500, "Unmarshalling failed"))?;
    let document = Document::parse_json("session", text)
        .map_err(|problems| Refused::new(500, format!("Unmarshalling failed: {problems}")))?;
    session::read(document).map_err(|problems| Refused::new(400, problems.to_string()))
}

/// The session as a key has it, if it may; the key's hash, if it has a name already, is asked for only where something depends on it.
pub(crate) fn admitted(
    control: &Control,
    mut session: Session,
    named: impl FnOnce() -> Option<KeyHash>,
) -> Result<Session, Refused> {
    let rules = control.settings.key_rules;
    if session.grant.access.is_empty() && session.grant.policies.is_empty() && !rules.master_keys {
        let message = "Failed to create key, keys must have at least one Access Rights record set.";
        return Err(Refused::new(400, message));
    }
    let policies = control.keys.policies();
    let known = LazyCell::new(|| named().is_some_and(|hash| control.has(hash)));
    for name in &session.grant.policies {
        let Some(policy) = session.grant.policy(name, &policies) else {
            let message = format!("there is no policy `{name}`");
            return Err(Refused::new(400, message));
        };
        // Whatever the session says itself; of several the last one counts (Tyk 5.15, `gateway/api.go`, `checkAndApplyTrialPeriod`).
        if policy.key_expires_in > 0 && !*known {
            session.expires = unix_seconds().saturating_add(policy.key_expires_in);
            session.lifetime.expires = session.expires.into();
        }
        if policy.after_expiry != AfterExpiry::Unsaid {
            session.lifetime.after_expiry = policy.after_expiry;
        }
    }
    let opens = control.keys.opens(&session.grant);
    let lifetimes = control.lifetimes();
    session.leaves = lifetimes.leaves(session.lifetime, opens.as_deref(), unix_seconds());
    Ok(session)
}

/// Effect of a call on a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Put {
    /// Makes it, in place of one that there may be.
    Make,
    /// Changes the one that there is.
    Change(Quotas),
}

/// Puts a key into the store and answers as Tyk does; `None` if it is to be changed and is not there.
pub(crate) fn put(
    control: &Control,
    (hash, name): (KeyHash, &str),
    session: Session,
    put: Put,
) -> Option<Answer> {
    let (action, quotas) = match put {
        Put::Make => ("added", Quotas::Reset),
        Put::Change(quotas) => ("modified", quotas),
    };
    let rules = control.settings.key_rules;
    let key = NewKey {
        hash,
        plain: (!rules.hashed).then(|| name.to_owned()),
        session,
        now: unix_seconds(),
    };
    let mut full = None;
    let is_put = control.change(hash, quotas, || {
        // Looked up together with the change: it may have been withdrawn since the call came.
        if put != Put::Make && !control.has(hash) {
            return false;
        }
        full = control.keys.put(key, quotas).err();
        full.is_none()
    });
    match full {
        Some(full) => return Some(error(507, full.to_string())),
        None if !is_put => return None,
        None => {}
    }
    let mut answer = json!({ "key": name, "status": "ok", "action": action });
    if rules.hashed && put == Put::Make {
        answer["key_hash"] = hash.to_hex().into();
    }
    Some(json_answer(200, &answer))
}

/// Makes a key of a session, which is read only if its name can be one.
pub(crate) fn make_of(
    control: &Control,
    session: impl FnOnce() -> Result<Session, Refused>,
    id: &str,
) -> Result<Answer, Refused> {
    let rules = control.settings.key_rules;
    if !id.is_empty() && id.len() < rules.shortest {
        let message = format!("a key has at least {} characters", rules.shortest);
        return Err(Refused::new(400, message));
    }
    let named = || (!id.is_empty()).then(|| KeyHash::of(id.as_bytes()));
    let session = admitted(control, session()?, named)?;
    let org = session.shape.get("org_id").and_then(|org| org.as_str());
    let name = match id {
        "" => match fresh(org.unwrap_or_default(), rules.form) {
            Ok(name) => name,
            Err(why) => return Err(Refused::new(500, format!("no key can be made: {why}"))),
        },
        id => id.to_owned(),
    };
    let hash = KeyHash::of(name.as_bytes());
    let made = put(control, (hash, &name), session, Put::Make);
    Ok(made.expect("invariant: a key is made whether it was there or not"))
}

/// A key that nobody can guess.
fn fresh(org: &str, form: Form) -> Result<String, String> {
    let mut random = [0; 16];
    ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut random)
        .map_err(|_| "the system has no random numbers".to_owned())?;
    let id = format!("{:032x}", u128::from_be_bytes(random));
    Ok(name::name(org, &id, form))
}
