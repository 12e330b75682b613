//! Connections of the benchmark's own: single requests, connections that are held, and large bodies.

pub mod http;
pub mod secured;
pub mod transfer;
