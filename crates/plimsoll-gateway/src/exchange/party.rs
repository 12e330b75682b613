//! The two that a proxy stands between.

/// One of the two that a proxy stands between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Party {
    Client,
    Upstream,
}
