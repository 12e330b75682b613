//! Key authentication: the request must carry one of the route's keys in a header.
//!
//! Only SHA-256 digests of keys are kept. A presented key is hashed and the digest looked up, so the time taken says
//! nothing about how much of a guessed key is right.

use crate::answering::answer::Answer;
use crate::answering::error_kind::ErrorKind;
use plimsoll_base::digest::Digest;
use plimsoll_http::Fields;
use plimsoll_secrets::CachedSecret;
use std::collections::HashMap;
use std::sync::Arc;

/// A key's place in its route's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyIndex(pub(crate) u32);

/// A key that a route accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Accepted {
    Known(Digest),
    /// The secret that is kept there now; none while that is withheld.
    Cached(Arc<CachedSecret>),
}

impl Accepted {
    /// Its name in analytics: its hash or, as it may become another, that of where it is kept. Hexadecimal.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Known(digest) => digest.to_hex(),
            Self::Cached(kept) => Digest::of(kept.reference.to_string().as_bytes()).to_hex(),
        }
    }
}

/// Why a request was not identified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unidentified {
    /// The header is absent, empty or repeated.
    Missing,
    /// The key is not one of the route's.
    Unknown,
}

/// The keys of one route and where to look for them.
#[derive(Debug)]
pub(crate) struct KeyPolicy {
    header: String,
    by_digest: HashMap<Digest, KeyIndex>,
    /// Keys that may become others while the policy lives.
    kept: Vec<(Arc<CachedSecret>, KeyIndex)>,
}

impl KeyPolicy {
    /// A policy that accepts `keys` (distinct) in the field `header`.
    pub(crate) fn new(header: &str, keys: &[Accepted]) -> Self {
        let mut policy = Self {
            header: header.to_owned(),
            by_digest: HashMap::new(),
            kept: Vec::new(),
        };
        for (index, key) in (0..).map(KeyIndex).zip(keys) {
            match key {
                Accepted::Known(digest) => {
                    policy.by_digest.insert(*digest, index);
                }
                Accepted::Cached(kept) => policy.kept.push((Arc::clone(kept), index)),
            }
        }
        policy
    }

    /// Where a key is in the list.
    pub(crate) fn place(&self, key: &Accepted) -> Option<KeyIndex> {
        match key {
            Accepted::Known(digest) => self.by_digest.get(digest).copied(),
            Accepted::Cached(kept) => {
                let mut known = self.kept.iter();
                known.find_map(|(known, index)| (known == kept).then_some(*index))
            }
        }
    }

    /// The key that a request carries. A leading `Bearer ` is not part of the key.
    pub(crate) fn identify(&self, fields: &Fields) -> Result<KeyIndex, Unidentified> {
        let mut values = fields.get_all(&self.header);
        let (Some(value), None) = (values.next(), values.next()) else {
            return Err(Unidentified::Missing);
        };
        let key = strip_bearer(value);
        if key.is_empty() {
            return Err(Unidentified::Missing);
        }
        let digest = Digest::of(key);
        let kept = || {
            let mut kept = self.kept.iter();
            kept.find_map(|(kept, index)| (kept.digest() == Some(digest)).then_some(*index))
        };
        let known = self.by_digest.get(&digest).copied();
        known.or_else(kept).ok_or(Unidentified::Unknown)
    }

    /// Answer to an unidentified client: 401 without a key, 403 with an unknown one.
    pub(crate) fn answer(&self, refused: Unidentified) -> Answer {
        match refused {
            Unidentified::Missing => {
                let scheme = match self.header.eq_ignore_ascii_case("authorization") {
                    true => "Bearer",
                    false => "ApiKey",
                };
                Answer::new(401, "this route needs one key")
                    .because(ErrorKind::KeyMissing)
                    .with_field("WWW-Authenticate", scheme.to_owned())
            }
            Unidentified::Unknown => {
                Answer::new(403, "this key may not use this route").because(ErrorKind::KeyUnknown)
            }
        }
    }
}

pub(super) fn strip_bearer(value: &[u8]) -> &[u8] {
    match value.split_at_checked(7) {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case(b"bearer ") => key.trim_ascii(),
        // Space at the end of a field is no part of it, so this is the scheme with nothing behind it.
        _ if value.eq_ignore_ascii_case(b"bearer") => b"",
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bearer_is_no_part_of_the_key() {
        for (value, key) in [
            ("Bearer abc", "abc"),
            ("bearer  abc", "abc"),
            ("abc", "abc"),
            ("Bearerabc", "Bearerabc"),
            ("Bearer ", ""),
            ("Bearer", ""),
            ("", ""),
        ] {
            assert_eq!(strip_bearer(value.as_bytes()), key.as_bytes(), "{value:?}");
        }
    }
}
