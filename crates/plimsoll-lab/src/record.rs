//! The record of a run: fragments become rows, and rows files of its directory.

pub(crate) mod collect;
pub(crate) mod recorder;
pub mod rundir;
