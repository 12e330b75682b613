//! The mock as its clients see it: over sockets, with one server per test on a port of its own.
#![allow(clippy::unwrap_used, reason = "test code outside test functions")]

#[path = "mock/admin.rs"]
mod admin;
#[path = "mock/bad_input.rs"]
mod bad_input;
#[path = "mock/behaving.rs"]
mod behaving;
#[path = "mock/costly.rs"]
mod costly;
#[path = "mock/counting.rs"]
mod counting;
#[path = "mock/http2.rs"]
mod http2;
#[path = "mock/invalid.rs"]
mod invalid;
#[path = "mock/journal.rs"]
mod journal;
#[path = "mock/keeping.rs"]
mod keeping;
#[path = "mock/limits.rs"]
mod limits;
#[path = "mock/metrics.rs"]
mod metrics;
#[path = "mock/packing.rs"]
mod packing;
#[path = "mock/proxying.rs"]
mod proxying;
#[path = "mock/recording.rs"]
mod recording;
#[path = "mock/refusing.rs"]
mod refusing;
#[path = "mock/secured.rs"]
mod secured;
#[path = "mock/serving.rs"]
mod serving;
#[path = "mock/states.rs"]
mod states;
#[path = "mock/stopping.rs"]
mod stopping;
#[path = "mock/templating.rs"]
mod templating;
#[path = "mock/unmatched.rs"]
mod unmatched;
#[path = "mock/upstream.rs"]
mod upstream;
#[path = "mock/webhooks.rs"]
mod webhooks;
#[path = "mock/world.rs"]
mod world;
