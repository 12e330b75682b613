//! Keys that are made, changed and withdrawn while the gateway runs, with what each may do and has used up.
//!
//! ```text
//! session (JSON) --read--> Terms (shared by all keys that have the same) + what is the key's own
//!                             \-- store: hash of the key --> terms, rate, quota, expiry
//! ```
//!
//! Only hashes of keys are kept, unless the operator wants them listed. Keys of `gateway.yaml` are known from the start and are
//! [`crate::policy::key`]'s.

pub(crate) mod allowance;
pub(crate) mod control;
pub(crate) mod grant;
pub(crate) mod hash;
pub(crate) mod key;
pub(crate) mod lifetime;
mod merge;
pub(crate) mod name;
pub(crate) mod redis;
pub(crate) mod session;
pub(crate) mod store;
pub(crate) mod terms;
pub(crate) mod tyk_fields;
pub(crate) mod unmet;

pub(crate) use hash::KeyHash;
pub(crate) use store::{KeyStore, Limits};
