//! Bounds of a call to AWS or to a container's host.

use plimsoll_http::Limits;
use std::time::Duration;

/// How long a call may take as a whole. Nobody but the refresher waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of an answer that are read: a secret has up to 64 KiB, which as JSON may take six times as much.
pub(crate) const ANSWER: Limits = Limits {
    head_bytes: 16 * 1024,
    fields: 100,
    target_bytes: 1024,
    body_bytes: 512 * 1024,
    trailer_bytes: 1024,
};
