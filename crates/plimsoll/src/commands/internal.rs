//! Hidden subcommands: the processes that the lab starts, and nobody else.

pub mod generator;
pub mod shim;
pub mod warden;
