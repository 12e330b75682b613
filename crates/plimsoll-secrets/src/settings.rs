//! Secrets that a configuration wants kept, and how.

use crate::cached::CachedSecret;
use crate::credentials;
use crate::schedule::Times;
use plimsoll_base::document::Problem;
use std::sync::Arc;

/// How secrets are kept, as a configuration says it.
#[derive(Debug, PartialEq, Eq)]
pub struct Settings {
    /// With what calls are signed.
    pub credentials: credentials::Source,
    /// Authorities (PEM) in place of the host's own.
    pub authorities: Option<String>,
    /// When secrets are asked for, and for how long they may be used.
    pub times: Times,
}

/// Secrets that a configuration wants kept.
#[derive(Debug, Clone)]
pub struct Keeping {
    /// How they are kept.
    pub settings: Arc<Settings>,
    /// Every place, and where it is said; those problems have no message yet.
    pub wanted: Vec<(Arc<CachedSecret>, Problem)>,
}
