//! The gateway over real sockets, between scripted clients and scripted upstreams, one module per concern.

#![expect(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

mod access_log;
mod analytics;
mod balancing;
mod bodies;
mod certificates;
mod configuration;
mod counting;
mod departures;
mod drain;
mod endings;
mod failures;
mod floods;
mod forwarding;
mod framing;
mod health;
mod http2;
mod http2_secured;
mod limits;
mod mirroring;
mod paths;
mod policies;
mod redis;
mod refusals;
mod reload;
mod repeats;
mod rules;
mod secrets;
mod secured;
mod sharding;
mod sinks;
mod support;
mod timeouts;
mod timings;
mod tracing;
mod twins;
mod tyk;
mod tyk_batch;
mod tyk_fields;
mod tyk_meaning;
mod tyk_overrides;
mod tyk_secured;
mod tyk_tokens;
mod upgrades;
mod upstream_tls;
