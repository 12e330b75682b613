//! The load generator: a plan in, one-second histogram fragments out.
//!
//! [`plan::Plan`] says what to send, when and for how long; [`fragment::Message`] is everything that comes back. Who starts
//! the generator, where its fragments go and what they mean for a verdict is left to others.

pub mod fragment;
pub mod plan;
