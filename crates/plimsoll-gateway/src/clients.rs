//! Clients: who they are by certificate or token, and whose data is where.

pub(crate) mod certificate;
pub(crate) mod identity;
pub(crate) mod jwt;
pub(crate) mod shard_map;
pub(crate) mod trust;
