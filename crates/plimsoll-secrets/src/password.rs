//! A password for connections that are made again and again: what it is at each of them.

use crate::secret::Secret;
use arc_swap::ArcSwapOption;
use std::fmt;
use std::sync::Arc;

/// A password, if one is needed. Clones are the same one, so that a reload reaches whoever connects with it.
#[derive(Clone, Default)]
pub struct Password(Arc<ArcSwapOption<Secret>>);

/// There is a password, and nobody has confirmed it for too long.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("its password is withheld")]
pub struct Withheld;

impl Password {
    /// This password; none is needed without a secret.
    pub fn new(secret: Option<Secret>) -> Self {
        Self(Arc::new(ArcSwapOption::from_pointee(secret)))
    }

    /// Its text, for a connection that is made now; `None` where none is needed.
    ///
    /// # Errors
    /// While it is withheld.
    pub fn reveal(&self) -> Result<Option<Arc<str>>, Withheld> {
        match &*self.0.load() {
            Some(secret) => secret.reveal().map(Some).ok_or(Withheld),
            None => Ok(None),
        }
    }

    /// It is what `next` is from now on.
    pub fn renew(&self, next: &Self) {
        self.0.store(next.0.load_full());
    }
}

/// Always: which password it is, is no part of where and as whom somebody connects, and may change meanwhile.
impl PartialEq for Password {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Password {}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cached::{CachedSecret, Purpose};
    use crate::reference::{Reference, Source};
    use plimsoll_http::Url;

    /// A password that nobody has confirmed yet, and its place.
    fn withheld() -> (Arc<CachedSecret>, Password) {
        let source = Source {
            secret: "prod/records".to_owned(),
            region: "eu-central-1".to_owned(),
            endpoint: Url::parse("https://secrets.example").unwrap(),
        };
        let reference = Reference { source, key: None };
        let kept = Arc::new(CachedSecret::new(reference, Purpose::Password));
        let password = Password::new(Some(Secret::Cached(Arc::clone(&kept))));
        (kept, password)
    }

    #[test]
    fn a_password_is_renewed_for_all_and_told_when_it_is_withheld() {
        let password = Password::default();
        let held = password.clone();
        assert_eq!(held.reveal(), Ok(None));
        password.renew(&Password::new(Some("ebb".into())));
        assert_eq!(held.reveal().unwrap().as_deref(), Some("ebb"));
        let (kept, next) = withheld();
        password.renew(&next);
        assert_eq!(held.reveal(), Err(Withheld));
        kept.fill("flood".into());
        assert_eq!(held.reveal().unwrap().as_deref(), Some("flood"));
        assert_eq!(format!("{held:?}"), "***");
    }
}
