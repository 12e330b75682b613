//! Secrets: text that cannot be printed, and what records hold in its place.

use std::fmt;

use plimsoll_base::digest::Digest;

/// Text from the environment, from a file or minted for a run. Neither its `Debug` form nor any record shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes `text` out of sight.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself: for the process, file or request that it is meant for, and nothing else.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// SHA-256 of the text, hexadecimal.
    #[must_use]
    pub fn sha256(&self) -> String {
        Digest::of(self.0.as_bytes()).to_hex()
    }

    /// Record of a secret in place of its text: `sha256:` and the first 16 hexadecimal digits of its hash.
    #[must_use]
    pub fn record(&self) -> String {
        format!("sha256:{}", &self.sha256()[..16])
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_only_its_hash() {
        let secret = Secret::new("abc");
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "*** Some(***)");
        assert_eq!(secret.record(), "sha256:ba7816bf8f01cfea");
        assert_eq!(secret.expose(), "abc");
    }
}
