//! Secrets of the configuration: text that cannot be printed, read when the configuration is, or kept fresh beside the requests.
//!
//! ```text
//! text, file, env --when the configuration is read--> Secret::Fixed
//! aws --------------Secret::Cached <--fills, ahead of each expiry-- refresher, a thread of its own --signed call--> AWS Secrets Manager
//! ```
//!
//! A request only ever looks at what is there. Where a secret may stand, and what must be fit for what, is the configuration's.

pub(crate) mod aws;
pub(crate) mod cached;
pub(crate) mod credentials;
pub(crate) mod password;
pub(crate) mod refresher;
pub(crate) mod schedule;
mod sigv4;

use crate::digest::Digest;
use cached::CachedSecret;
use plimsoll_http::Limits;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How long a call may take as a whole. Nobody but the refresher waits for it.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of an answer that are read: a secret has up to 64 KiB, which as JSON may take six times as much.
const ANSWER: Limits = Limits {
    head_bytes: 16 * 1024,
    fields: 100,
    target_bytes: 1024,
    body_bytes: 512 * 1024,
    trailer_bytes: 1024,
};

/// A secret, wherever it comes from. Its text is shown by [`Self::reveal`] alone.
#[derive(Clone)]
pub(crate) enum Secret {
    /// Text of the configuration, or of a file or variable when it was read.
    Fixed(Arc<str>),
    /// Text that the refresher got last.
    Cached(Arc<CachedSecret>),
}

impl Secret {
    /// The text, for whom it is meant and nobody else; `None` while it is withheld because nobody has confirmed it for too long.
    pub(crate) fn reveal(&self) -> Option<Arc<str>> {
        match self {
            Self::Fixed(text) => Some(Arc::clone(text)),
            Self::Cached(kept) => kept.text(),
        }
    }

    /// Has somebody see the text, who does not keep it; says whether there is one.
    pub(crate) fn show(&self, to: impl FnOnce(&str)) -> bool {
        match self {
            Self::Fixed(text) => {
                to(text);
                true
            }
            Self::Cached(kept) => kept.show(to),
        }
    }

    /// The text's digest, for comparing what somebody presents with it.
    pub(crate) fn digest(&self) -> Option<Digest> {
        match self {
            Self::Fixed(text) => Some(Digest::of(text.as_bytes())),
            Self::Cached(kept) => kept.digest(),
        }
    }

    /// Whether there is nothing to reveal now.
    pub(crate) fn is_withheld(&self) -> bool {
        match self {
            Self::Fixed(_) => false,
            Self::Cached(kept) => kept.digest().is_none(),
        }
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::Fixed(text.into())
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::Fixed(text.into())
    }
}

/// Equal texts, or equal places.
impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Fixed(one), Self::Fixed(other)) => one == other,
            (Self::Cached(one), Self::Cached(other)) => one == other,
            _ => false,
        }
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
