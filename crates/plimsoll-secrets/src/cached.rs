//! One place of the configuration whose secret is kept elsewhere: what is wanted there, and what it is now.

use crate::reference::Reference;
use arc_swap::ArcSwapOption;
use plimsoll_base::digest::Digest;
use std::fmt;
use std::sync::Arc;

/// A secret that the refresher fills. Requests read it without waiting; it is empty before the first value and while it is withheld.
pub struct CachedSecret {
    /// Where it is kept.
    pub reference: Reference,
    /// Its purpose.
    pub purpose: Purpose,
    /// Swapped as a whole, so that readers neither wait nor see a part.
    value: ArcSwapOption<Value>,
}

struct Value {
    text: Arc<str>,
    digest: Digest,
}

/// Purpose of a secret, for which not every text is fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A key that clients present.
    Key,
    /// The value of a header field.
    Field,
    /// A password, for a program.
    Password,
}

impl Purpose {
    /// Why a text is not fit for this, if it is not. Says nothing of the text itself.
    pub fn objection(self, text: &str) -> Option<&'static str> {
        let is_field = |text: &str| {
            text.bytes()
                .all(|b| b == b'\t' || (b' '..0x7f).contains(&b) || b >= 0x80)
        };
        match self {
            Self::Key if text.is_empty() || text.trim() != text => {
                Some("a key is not empty and has no space at its ends")
            }
            Self::Field if !is_field(text) || text.trim() != text => {
                Some("the value of a field has no control character, and no space at its ends")
            }
            Self::Password if text.is_empty() => Some("it is empty"),
            Self::Key | Self::Field | Self::Password => None,
        }
    }
}

impl CachedSecret {
    /// One that is empty yet.
    pub fn new(reference: Reference, purpose: Purpose) -> Self {
        Self {
            reference,
            purpose,
            value: ArcSwapOption::empty(),
        }
    }

    /// Its text, if there is any.
    pub fn text(&self) -> Option<Arc<str>> {
        let value = self.value.load();
        value.as_ref().map(|value| Arc::clone(&value.text))
    }

    /// Has somebody see the text; says whether there is one.
    pub(crate) fn show(&self, to: impl FnOnce(&str)) -> bool {
        match &*self.value.load() {
            Some(value) => {
                to(&value.text);
                true
            }
            None => false,
        }
    }

    /// The digest of its text, if there is any.
    pub fn digest(&self) -> Option<Digest> {
        self.value.load().as_ref().map(|value| value.digest)
    }

    /// It is this from now on.
    pub(crate) fn fill(&self, text: Arc<str>) {
        let digest = Digest::of(text.as_bytes());
        self.value.store(Some(Arc::new(Value { text, digest })));
    }

    /// It is nothing from now on.
    pub(crate) fn withhold(&self) {
        self.value.store(None);
    }
}

/// A copy of the same secret for the same purpose.
impl PartialEq for CachedSecret {
    fn eq(&self, other: &Self) -> bool {
        (&self.reference, self.purpose) == (&other.reference, other.purpose)
    }
}

impl Eq for CachedSecret {}

impl fmt::Debug for CachedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CachedSecret({}, ***)", self.reference)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Source;
    use plimsoll_http::Url;

    #[test]
    fn what_is_kept_is_not_shown() {
        let reference = Reference {
            source: Source {
                secret: "prod/api".to_owned(),
                region: "eu-central-1".to_owned(),
                endpoint: Url::parse("https://secrets.example").unwrap(),
            },
            key: Some("token".to_owned()),
        };
        let kept = CachedSecret::new(reference, Purpose::Key);
        assert_eq!((kept.text(), kept.digest()), (None, None));
        kept.fill("open-sesame".into());
        assert_eq!(kept.text().as_deref(), Some("open-sesame"));
        assert_eq!(kept.digest(), Some(Digest::of(b"open-sesame")));
        assert_eq!(format!("{kept:?}"), "CachedSecret(prod/api#token, ***)");
        kept.withhold();
        assert_eq!(kept.text(), None);
    }

    #[test]
    fn not_every_text_is_fit_for_everything() {
        let check = |purpose: Purpose, text: &str, fit: bool| {
            assert_eq!(
                purpose.objection(text).is_none(),
                fit,
                "{purpose:?} {text:?}"
            );
        };
        check(Purpose::Key, "a b", true);
        check(Purpose::Key, "", false);
        check(Purpose::Key, "a\n", false);
        check(Purpose::Field, "Bearer a", true);
        check(Purpose::Field, "a\r\nX: b", false);
        check(Purpose::Field, " a", false);
        check(Purpose::Password, "a\nb", true);
        check(Purpose::Password, "", false);
    }
}
