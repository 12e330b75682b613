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
//! server fuzzing                                                       starts, and stops when all have drained
//! acceptor admin                                                       a shard at work; what operators see and ask
//! connection                                                           clients' connections: HTTP/1.1, HTTP/2, TLS
//! exchange                                                             one request, from its head to the end of its answer
//! reload shard client mirror                                           what shards, their clients and copies of requests hold
//! generation                                                           what one reading of the configuration makes
//! preparation control_api client_context outgoing                      what goes out: heads, the control API's answers
//! service upstream tyk controls                                        routes and upstreams at run time; Tyk's files
//! config                                                               gateway.yaml, checked
//! overrides policy control connection_registry handover listener_id   what routes demand and say; listeners and who came in
//! keys metrics shard_map                                               keys that come and go, counters, whose data is where
//! error_format batch answer                                            what the gateway says itself
//! trust identity certificate origin secrecy http2                      who clients are, who the gateway is
//! tyk_fields jwt go_regex path router fields forwarded                 formats of others, each by itself
//! gcra expiry error_kind handshake error                               figures and words
//! connection_limiter own_connections                                   what everybody may need
//! ```

mod acceptor;
mod admin;
mod answer;
mod batch;
mod certificate;
mod client;
mod client_context;
mod config;
mod connection;
mod connection_limiter;
mod connection_registry;
mod control;
mod control_api;
mod controls;
mod error;
mod error_format;
mod error_kind;
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
mod listener_id;
mod metrics;
mod mirror;
mod origin;
mod outgoing;
mod overrides;
mod own_connections;
mod path;
mod policy;
mod preparation;
mod reload;
mod router;
mod secrecy;
mod server;
mod service;
mod shard;
mod shard_map;
mod trust;
mod tyk;
mod tyk_fields;
mod upstream;

pub use config::{
    GatewayConfig, Limit, ReadFile, ReadVariable, Surroundings, schema, shard_map_schema,
};
pub use controls::{Controls, Reload, Source};
pub use error::GatewayError;
pub use handover::{Handover, Serving, Socket, Sockets};
pub use plimsoll_records::Output;
pub use server::run;
pub use tyk::{Tyk, TykFile, check_definition, check_policies};
