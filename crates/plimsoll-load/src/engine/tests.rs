//! The engine against servers that behave in known ways, over real sockets of this host.
//!
//! Assertions are on counts and on relations between times, never on how fast this host is.

mod accounting;
mod canary;
mod failures;
mod numbered;
mod rig;
mod scenarios;
mod singly;
mod times;
