//! Answering: what the gateway says itself, and in whose words.

pub(crate) mod answer;
pub(crate) mod batch;
pub(crate) mod error_format;
pub(crate) mod error_kind;
pub(crate) mod overrides;
