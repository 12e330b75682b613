//! `POST /tyk/keys/create`: a key with a name of its own; `POST /tyk/keys/{id}`: with this one.

use super::new_key::{self, Put, Refused};
use super::{Call, Control};
use crate::answer::Answer;
use crate::keys::KeyHash;
use crate::keys::name::{self, Form};
use crate::keys::session::Session;

pub(super) fn answer(control: &Control, call: &Call, id: &str) -> Answer {
    make(control, &call.body, id).unwrap_or_else(Refused::answer)
}

/// Makes a key of a session that is written.
fn make(control: &Control, written: &[u8], id: &str) -> Result<Answer, Refused> {
    make_of(control, || new_key::read(written), id)
}

/// Makes a key of a session, which is read only if its name can be one.
pub(super) fn make_of(
    control: &Control,
    session: impl FnOnce() -> Result<Session, Refused>,
    id: &str,
) -> Result<Answer, Refused> {
    let rules = control.settings.key_rules();
    if !id.is_empty() && id.len() < rules.shortest {
        let message = format!("a key has at least {} characters", rules.shortest);
        return Err(Refused::new(400, message));
    }
    let named = || (!id.is_empty()).then(|| KeyHash::of(id.as_bytes()));
    let session = new_key::admitted(control, session()?, named)?;
    let org = session.shape.get("org_id").and_then(|org| org.as_str());
    let name = match id {
        "" => match fresh(org.unwrap_or_default(), rules.form) {
            Ok(name) => name,
            Err(why) => return Err(Refused::new(500, format!("no key can be made: {why}"))),
        },
        id => id.to_owned(),
    };
    let hash = KeyHash::of(name.as_bytes());
    let made = new_key::put(control, (hash, &name), session, Put::Make);
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
