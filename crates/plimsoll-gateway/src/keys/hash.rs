//! The kept part of a key: the first half of its SHA-256 digest. Finding a key that hashes to one of a million of these takes 2¹⁰⁸
//! guesses.

use sha2::{Digest as _, Sha256};
use std::fmt;

/// The hash of a key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct KeyHash([u8; 16]);

impl KeyHash {
    /// The hash of a key in plain text.
    pub(crate) fn of(key: &[u8]) -> Self {
        let digest: [u8; 32] = Sha256::digest(key).into();
        let mut half = [0; 16];
        half.copy_from_slice(&digest[..16]);
        Self(half)
    }

    /// Reads 32 hexadecimal digits.
    pub(crate) fn from_hex(text: &str) -> Option<Self> {
        let is_hex = text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
        let number = is_hex
            .then(|| u128::from_str_radix(text, 16).ok())
            .flatten();
        number.map(|number| Self(number.to_be_bytes()))
    }

    /// 32 lower-case hexadecimal digits.
    pub(crate) fn to_hex(self) -> String {
        format!("{:032x}", u128::from_be_bytes(self.0))
    }

    /// A number in which all of its bits have a say as good as any other's: they are all random already.
    pub(super) fn number(self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_and_back() {
        let hash = KeyHash::of(b"secret");
        assert_eq!(hash.to_hex(), "2bb80d537b1da3e38bd30361aa855686");
        assert_eq!(KeyHash::from_hex(&hash.to_hex()), Some(hash));
        assert_eq!(KeyHash::from_hex("2bb8"), None);
        assert_eq!(KeyHash::from_hex(&"+".repeat(32)), None);
    }
}
