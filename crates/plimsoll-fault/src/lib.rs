//! Faults on the way between a service and what it depends on: a drop-in for Toxiproxy 2.12, and what its users miss.
//!
//! A proxy listens where it is told and leads to one server. Toxics change what passes: they delay bytes, slice, drop, hold or spoil them,
//! and end connections. No protocol is parsed, but for the request by which a client asks for its server.
//!
//! Its modules by floors. None uses one of a floor above its own, and no two need each other:
//!
//! | floor | modules |
//! |---|---|
//! | start and end | `run` |
//! | Toxiproxy's API; clients that ask for a server by name | `api`, `tunnel` |
//! | all proxies, and what may be done with them | `proxies` |
//! | a thread with the listeners and connections of all proxies | `shard` |
//! | one connection, its two directions, and how they move | `connection` |
//! | the types of toxics | `toxic` |
//! | bytes on their way, and stages between queues of them | `passage` |
//! | directions; counts; one client's way aside; Go's reading of JSON; configuration; why something is not done | `direction`, `account`, `detour`, `go_json`, `config`, `error` |

mod account;
mod api;
mod config;
mod connection;
mod detour;
mod direction;
mod error;
mod go_json;
mod passage;
mod proxies;
mod run;
mod shard;
mod toxic;
mod tunnel;

pub use api::TOXIPROXY;
pub use config::{FaultConfig, Metrics};
pub use error::FaultError;
pub use run::run;
