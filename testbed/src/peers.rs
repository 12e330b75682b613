//! Real servers that tests and measurements talk to, each started on a free port and ended with whoever started it.

pub mod nginx;
pub mod postgresql;
pub mod redis;
pub mod tls_server;
