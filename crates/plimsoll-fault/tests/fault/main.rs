//! A fault proxy as its clients see it: the API over HTTP, and bytes over sockets.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and measures what a client sees"
)]

mod api;
mod clients;
mod connect;
mod connections;
mod plaintext;
mod serving;
mod toxics;
