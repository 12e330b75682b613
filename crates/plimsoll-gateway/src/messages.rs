//! Messages: what of paths and heads crosses, is added or is withheld.

pub(crate) mod edits;
pub(crate) mod expiry;
pub(crate) mod fields;
pub(crate) mod forwarded;
pub(crate) mod http2;
pub(crate) mod path;
pub(crate) mod secrecy;
