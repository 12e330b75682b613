//! Documents that a request's body may be: JSON and XML, read once for however many stubs ask.

pub(crate) mod json;
pub mod xml;
