//! The load generator: a plan in, one-second histogram fragments out.
//!
//! [`plan::Plan`] says what to send, when and for how long; [`fragment::Message`] is everything that comes back; [`run()`] turns the one
//! into the other. Inside: [`arrivals`] (pure) says when iterations are intended to start; `engine` starts them, one thread per
//! shard; `watchdog` sees when they stand still; `recorder` counts and times what happens in a shard; `collector` adds the shards up and checks the accounts. [`reach`] says before a load which addresses of its target answer. Who starts
//! the generator, where its fragments go and what they mean for a verdict is left to others.

pub mod arrivals;
mod clock;
mod collector;
mod deal;
mod early_end;
mod engine;
pub mod exchange;
pub mod fragment;
pub mod plan;
pub mod reach;
mod recorder;
mod run;
mod scenario;
mod security;
mod shifts;
mod watchdog;

pub use run::{LoadError, run, run_singly};
