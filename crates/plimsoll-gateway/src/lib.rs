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
//!
//! # Floors
//!
//! A module needs those on the floors below, and on its own floor those to its right.
//!
//! ```text
//! server fuzzing                                          starts, and stops when all have drained
//! acceptor admin                                          a shard at work; what operators see and ask
//! connection                                              clients' connections: HTTP/1.1, HTTP/2, TLS
//! exchange                                                one request, from its head to the end of its answer
//! reload shard client mirror                              what shards, their clients and copies of requests hold
//! generation                                              what one reading of the configuration makes
//! preparation control_api standing outgoing analytics     what goes out: heads, records, the control API's answers
//! service upstream tyk controls                           routes and upstreams at run time; Tyk's files
//! config                                                  gateway.yaml, checked
//! overrides policy control roll handover doors            what routes demand and say; listeners and who came in
//! keys metrics shard_map ending                           keys that come and go, counters, whose data is where
//! voice batch answer redis_server secrets                 what the gateway says itself; what is kept elsewhere
//! trust identity certificate origin secrecy http2         who clients are, who the gateway is
//! tyk_fields jwt go_regex path router fields forwarded    formats of others, each by itself
//! phases tracing gcra expiry cause handshake error        figures and words
//! crowd own_connections digest clock log                  what everybody may need
//! ```

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
