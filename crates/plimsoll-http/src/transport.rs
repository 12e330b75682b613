//! Beneath connections: listeners, streams with or without TLS and pipes between them, shards, descriptors.

pub mod descriptors;
pub mod listen;
pub mod shard;
pub mod splice;
pub mod stream;
pub mod tls;
mod when_woken;
