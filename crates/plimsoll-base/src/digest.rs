//! SHA-256 digests: what is kept of keys and secrets, and what tells certificates and whole configurations apart.

use sha2::{Digest as _, Sha256};
use std::fmt;

/// A SHA-256 digest. That of a key is safe to store; printed only by [`Digest::to_hex`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of a key in plain text.
    pub fn of(key: &[u8]) -> Self {
        Self(Sha256::digest(key).into())
    }

    /// Reads 64 hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let mut digest = [0; 32];
        for (octet, at) in digest.iter_mut().zip((0..64).step_by(2)) {
            *octet = u8::from_str_radix(&text[at..at + 2], 16).ok()?;
        }
        Some(Self(digest))
    }

    /// 64 lower-case hexadecimal digits.
    pub fn to_hex(self) -> String {
        self.0.iter().map(|octet| format!("{octet:02x}")).collect()
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digest(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_read_and_never_shown_by_debug() {
        let hex = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
        let digest = Digest::of(b"secret");
        assert_eq!(digest.to_hex(), hex);
        assert_eq!(Digest::from_hex(hex), Some(digest));
        assert_eq!(Digest::from_hex(&hex.to_uppercase()), Some(digest));
        assert_eq!(Digest::from_hex(&hex[1..]), None);
        assert_eq!(Digest::from_hex(&format!("{}é", &hex[2..])), None);
        assert_eq!(format!("{digest:?}"), "Digest(…)");
    }
}
