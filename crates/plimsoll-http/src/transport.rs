//! Beneath connections: listeners, streams with or without TLS, shards, descriptors.

pub mod descriptors;
pub mod listen;
pub mod shard;
pub mod stream;
pub mod tls;
mod when_woken;
