//! The load generator: a plan in, one-second histogram fragments out.
//!
//! [`plan::Plan`] says what to send, when and for how long; [`fragment::Message`] is everything that comes back; [`run()`] turns the one
//! into the other. Who starts the generator, where its fragments go and what they mean for a verdict is left to others.
//!
//! Its modules by floors. None uses one of a floor above its own, and no two need each other:
//!
//! | floor | modules |
//! |---|---|
//! | a load from its start to its end | `run` |
//! | starts iterations, one thread per shard, and carries out their exchanges | `engine` |
//! | what happens in a shard, counted and timed; the shards added up, and whether they stand still | `results` |
//! | whether a plan can be carried out; who gets what of it | `check`, `partition` |
//! | when iterations are intended to start and users are at work; what an iteration does, compiled; TLS | [`arrivals`], `scenario`, `security` |
//! | what is asked for, what comes back, which addresses of a target answer, the time of a load | [`plan`], [`fragment`], [`reach`], `clock` |

pub mod arrivals;
mod check;
mod clock;
mod engine;
pub mod fragment;
mod partition;
pub mod plan;
pub mod reach;
mod results;
mod run;
mod scenario;
mod security;

pub use results::exchange;
pub use run::{LoadError, run, run_singly};
