//! The gateway: a reverse proxy with routes, keys, rate limits and analytics.
//!
//! ```text
//! server --one per core--> acceptor --one per connection--> connection --one per request--> exchange --> upstream
//!    \-- admin (/metrics, /healthz)   \-- analytics feed --> sink_workers --> sinks
//!    \-- reload: reads the configuration again --a generation--> every shard
//!    \-- plimsoll-secrets: kept fresh beside the requests
//! ```
//!
//! Give it a [`GatewayConfig`] and call [`run`]; it serves until it is told to stop, then drains. Reading files and the
//! environment, signals and printing are left to the binary; HTTP's syntax to `plimsoll-http`.
//!
//! # Floors
//!
//! A module needs those on the floors below, and on its own floor those to its right.
//!
//! ```text
//! fuzzing server                     starts, accepts, answers operators, and stops when all have drained
//! exchange                           one request, from its head to the end of its answer
//! shard                              what a thread's connections share: clients, copies of their requests
//! reloading                          what one reading of the configuration makes, and how the next takes its place
//! routing upstream tyk               which route a request takes, where it goes; Tyk's files and control API
//! config                             gateway.yaml, checked
//! policy                             what routes demand
//! keys metrics                       keys that come and go; counters
//! answering                          what the gateway says itself
//! listening clients                  sockets and who is connected; who clients are, and whose data is where
//! messages origin gcra error         paths and heads; the gateway itself; figures and words
//! ```

mod answering;
mod clients;
mod config;
mod error;
mod exchange;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod gcra;
mod keys;
mod listening;
mod messages;
mod metrics;
mod origin;
mod policy;
mod reloading;
mod routing;
mod server;
mod shard;
mod tyk;
mod upstream;

pub use config::{
    GatewayConfig, Limit, ReadFile, ReadVariable, SCHEMA, SHARD_MAP_SCHEMA, Surroundings,
};
pub use error::GatewayError;
pub use listening::handover::{Handover, Serving, Socket, Sockets};
pub use plimsoll_records::Output;
pub use reloading::controls::{Controls, Reload, Source};
pub use server::run;
pub use tyk::{Tyk, TykFile, check_definition, check_policies};
