//! Connections that are made: dialled, pooled, or used for one request.

pub mod call;
pub mod connect;
pub mod otlp;
pub mod pool;
