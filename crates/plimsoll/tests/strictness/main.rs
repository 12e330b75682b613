//! Behaviour of our servers and our client with messages that two parsers could read differently, as one table of cases.
//!
//! The cases are in `cases/`, one file per topic; `docs/strictness.md` is made from them (`UPDATE=1 cargo test --test strictness`
//! rewrites it). This target drives them over sockets; the codec's own tests cut the same cases at every byte.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod case;
mod document;
mod exchange;
mod foreign;
mod hyper_server;
mod mutated;
mod observed;
mod ours;
mod peers;
mod requests;
mod responses;
