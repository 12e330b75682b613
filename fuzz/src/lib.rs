//! The shared part of the fuzz targets: the story of a connection as our codec tells it and as hyper does, and what may differ.
//!
//! Each target takes bytes and panics on a finding. Nothing here touches a socket, a clock or another thread.

pub mod certificate;
pub mod compare;
mod differences;
mod drive;
pub mod http2;
mod hyper_client;
mod hyper_server;
pub mod mock;
pub mod ours;
pub mod shard_map;
pub mod story;
pub mod tyk;

pub use hyper_client::hyper_reads_response;
pub use hyper_server::hyper_reads_requests;
