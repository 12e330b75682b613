//! Readings: one side of a comparison is started, driven once and ended, and what was seen of it becomes figures.

pub mod connections;
pub mod generator;
pub mod secured;
pub mod server;
pub mod spans;
pub mod steady;
pub mod together;
