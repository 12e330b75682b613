//! The gateway: a reverse proxy with routes, keys, rate limits and analytics.
//!
//! ```text
//! server --one per core--> acceptor --one per connection--> connection --one per request--> exchange --> upstream
//!    \-- admin (/metrics, /healthz)   \-- analytics feed --> couriers --> sinks
//!    \-- reload: reads the configuration anew --a generation--> every shard
//!    \-- secrets: kept fresh beside the requests
//! ```
//!
//! Give it a [`GatewayConfig`] and call [`run`]; it serves until it is told to stop, then drains. Reading files and the
//! environment, signals and printing are left to the binary; HTTP's syntax to `plimsoll-http`.

mod acceptor;
mod admin;
mod analytics;
mod answer;
mod batch;
mod cause;
mod certificate;
mod client;
mod clock;
mod config;
mod connection;
mod control;
mod control_api;
mod controls;
mod crowd;
mod digest;
mod doors;
mod ending;
mod error;
mod exchange;
mod expiry;
mod fields;
mod forwarded;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod gcra;
mod generation;
mod go_regex;
mod handover;
mod handshake;
mod http2;
mod identity;
mod jwt;
mod keys;
mod log;
mod metrics;
mod mirror;
mod origin;
mod outgoing;
mod overrides;
mod own_connections;
mod path;
mod phases;
mod policy;
mod preparation;
mod redis_server;
mod reload;
mod roll;
mod router;
mod secrecy;
mod secrets;
mod server;
mod service;
mod shard;
mod shard_map;
mod standing;
mod tracing;
mod trust;
mod tyk;
mod tyk_fields;
mod upstream;
mod voice;

pub use config::{
    GatewayConfig, Limit, ReadFile, ReadVariable, Surroundings, schema, shard_map_schema,
};
pub use controls::{Controls, Output, Reload, Source};
pub use error::GatewayError;
pub use handover::{Handover, Serving, Socket, Sockets};
pub use server::run;
pub use tyk::{Tyk, TykFile, check_definition, check_policies};
