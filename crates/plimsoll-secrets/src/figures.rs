//! Counters of the secrets that are kept.

use plimsoll_http::meters::Counter;

/// Counters of secrets, for `/metrics`.
#[derive(Debug, Default)]
pub struct Figures {
    /// Secrets that are kept.
    pub kept: Counter,
    /// Calls that brought a value.
    pub refreshed: Counter,
    /// Calls that brought none.
    pub failed: Counter,
    /// Values that were another than before.
    pub rotated: Counter,
    /// Secrets that are used beyond their time to live.
    pub stale: Counter,
    /// Secrets that are withheld.
    pub withheld: Counter,
}
