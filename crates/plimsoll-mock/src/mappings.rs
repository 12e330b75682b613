//! Stub mappings outside of a request: where they are read from, which are served, and those that recordings make.

pub(crate) mod recording;
pub(crate) mod source;
pub(crate) mod stubs;
pub(crate) mod validate;
