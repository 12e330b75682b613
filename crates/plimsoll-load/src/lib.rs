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
//! | adds the shards up and checks the accounts; sees when they stand still | `collector`, `watchdog` |
//! | whether a plan can be carried out; who gets what of it; what happens in a shard, counted and timed | `check`, `deal`, `recorder` |
//! | when iterations are intended to start; what one does, compiled; when users are at work; TLS; whether arrivals ended early | [`arrivals`], `scenario`, `shifts`, `security`, `early_end` |
//! | what is asked for, what comes back, which addresses of a target answer, the time of a load | [`plan`], [`fragment`], [`exchange`], [`reach`], `clock` |

pub mod arrivals;
mod check;
mod clock;
mod collector;
mod early_end;
mod engine;
pub mod exchange;
pub mod fragment;
mod partition;
pub mod plan;
pub mod reach;
mod recorder;
mod run;
mod scenario;
mod security;
mod shifts;
mod watchdog;

pub use run::{LoadError, run, run_singly};
