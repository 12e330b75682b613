//! A secret's text, wherever it comes from: shown to whom it is meant for, and to nobody else.

use crate::cached::CachedSecret;
use plimsoll_base::digest::Digest;
use std::fmt;
use std::sync::Arc;

/// A secret, wherever it comes from. Its text is shown by [`Self::reveal`] alone.
#[derive(Clone)]
pub enum Secret {
    /// Text of the configuration, or of a file or variable when it was read.
    Fixed(Arc<str>),
    /// Text that the refresher got last.
    Cached(Arc<CachedSecret>),
}

impl Secret {
    /// The text, for whom it is meant and nobody else; `None` while it is withheld because nobody has confirmed it for too long.
    pub fn reveal(&self) -> Option<Arc<str>> {
        match self {
            Self::Fixed(text) => Some(Arc::clone(text)),
            Self::Cached(kept) => kept.text(),
        }
    }

    /// Has somebody see the text, who does not keep it; says whether there is one.
    pub fn show(&self, to: impl FnOnce(&str)) -> bool {
        match self {
            Self::Fixed(text) => {
                to(text);
                true
            }
            Self::Cached(kept) => kept.show(to),
        }
    }

    /// The text's digest, for comparing what somebody presents with it.
    pub fn digest(&self) -> Option<Digest> {
        match self {
            Self::Fixed(text) => Some(Digest::of(text.as_bytes())),
            Self::Cached(kept) => kept.digest(),
        }
    }

    /// Whether there is nothing to reveal now.
    pub fn is_withheld(&self) -> bool {
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
