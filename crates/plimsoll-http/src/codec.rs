//! The codec of HTTP/1.1: bytes to messages and back, without I/O, within limits.

pub(crate) mod buffer;
pub mod decode;
pub mod encode;
pub mod error;
pub mod fields;
pub mod head;
pub mod hop;
pub mod limits;
