//! Secrets of a run, masked in what is kept and shown of it: logs of components, events, messages.
//!
//! A component prints as it likes, and a password in its log is one in every copy of the run's directory. Each secret is
//! replaced by [`MASK`], also where it comes in several pieces, overlaps another, or is written as JSON writes it. Other spellings of a
//! secret (its Base64, its lines one by one) are not known here.

use std::borrow::Cow;
use std::fmt;

/// Text in place of a secret.
pub const MASK: &str = "***";
/// Secrets of fewer bytes are not masked: they would be found everywhere, and masking them would show where they are.
pub const SHORTEST: usize = 4;
/// Secrets of more bytes are not masked: as much of a log is held back while it could be the beginning of one.
pub const LONGEST: usize = 64 * 1024;

/// The secrets that are looked for.
#[derive(Clone, Default)]
pub struct Mask {
    secrets: Vec<String>,
}

impl Mask {
    /// Looks for these, as far as their lengths permit.
    pub fn of(secrets: impl IntoIterator<Item = String>) -> Self {
        let fits = |secret: &String| (SHORTEST..=LONGEST).contains(&secret.len());
        let mut found: Vec<String> = Vec::new();
        for secret in secrets {
            found.extend(as_json(&secret).filter(fits));
            found.extend(Some(secret).filter(fits));
        }
        found.sort();
        found.dedup();
        Self { secrets: found }
    }

    /// The texts that are looked for; nothing is masked where there are none.
    #[must_use]
    pub fn secrets(&self) -> &[String] {
        &self.secrets
    }

    /// A whole text without them.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !self.secrets.iter().any(|secret| text.contains(secret)) {
            return Cow::Borrowed(text);
        }
        let mut masking = Masking::new(&self.secrets);
        let mut masked = Vec::with_capacity(text.len());
        masking.take(text.as_bytes(), &mut masked);
        masking.finish(&mut masked);
        Cow::Owned(String::from_utf8_lossy(&masked).into_owned())
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

/// The secret within a JSON text, if it looks different there.
fn as_json(secret: &str) -> Option<String> {
    let quoted = serde_json::Value::from(secret).to_string();
    let inner = quoted.get(1..quoted.len() - 1)?;
    (inner != secret).then(|| inner.to_owned())
}

/// Masks a stream whose pieces end anywhere.
pub struct Masking {
    secrets: Vec<Vec<u8>>,
    /// Which secrets begin with each byte.
    beginning: Vec<Vec<usize>>,
    /// The end of what has come, as far as it may be the beginning of a secret.
    held: Vec<u8>,
    /// How many of the next bytes belong to a secret that was found.
    covered: usize,
}

impl Masking {
    /// Nothing has come yet. No secret may be empty.
    #[must_use]
    pub fn new(secrets: &[String]) -> Self {
        let secrets: Vec<Vec<u8>> = secrets.iter().map(|it| it.clone().into_bytes()).collect();
        let mut beginning = vec![Vec::new(); 256];
        for (index, secret) in secrets.iter().enumerate() {
            if let Some(first) = secret.first() {
                beginning[usize::from(*first)].push(index);
            }
        }
        Self {
            secrets,
            beginning,
            held: Vec::new(),
            covered: 0,
        }
    }

    /// Takes a piece, and adds to `out` what is certain of the stream.
    pub fn take(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        let mut bytes = std::mem::take(&mut self.held);
        bytes.extend_from_slice(piece);
        let mut at = 0;
        while at < bytes.len() {
            if self.is_open(&bytes[at..]) {
                break;
            }
            self.step(&bytes[at..], out);
            at += 1;
        }
        bytes.drain(..at);
        self.held = bytes;
    }

    /// The stream has ended: what was held back is all that comes of it.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let bytes = std::mem::take(&mut self.held);
        for at in 0..bytes.len() {
            self.step(&bytes[at..], out);
        }
    }

    /// Whether more is needed to know what the first byte belongs to.
    fn is_open(&self, rest: &[u8]) -> bool {
        let may_begin = |index: &usize| {
            let secret = &self.secrets[*index];
            secret.len() > rest.len() && secret.starts_with(rest)
        };
        self.beginning[usize::from(rest[0])].iter().any(may_begin)
    }

    /// Writes the first byte of what is left, or the mask where a secret begins.
    fn step(&mut self, rest: &[u8], out: &mut Vec<u8>) {
        let candidates = self.beginning[usize::from(rest[0])].iter();
        let found = candidates
            .map(|index| &self.secrets[*index])
            .filter(|secret| rest.starts_with(secret))
            .map(Vec::len);
        let longest = found.max().unwrap_or(0);
        if longest > 0 && self.covered == 0 {
            out.extend_from_slice(MASK.as_bytes());
        }
        self.covered = self.covered.max(longest);
        if self.covered == 0 {
            out.push(rest[0]);
        } else {
            self.covered -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mask(secrets: &[&str]) -> Mask {
        Mask::of(secrets.iter().map(|&secret| secret.to_owned()))
    }

    /// The text masked as a whole, and in pieces of each length.
    fn check(secrets: &[&str], text: &str, expected: &str) {
        let mask = mask(secrets);
        assert_eq!(mask.text(text), expected);
        for length in 1..=text.len() {
            let mut masking = Masking::new(mask.secrets());
            let mut out = Vec::new();
            for piece in text.as_bytes().chunks(length) {
                masking.take(piece, &mut out);
            }
            masking.finish(&mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "by {length}");
        }
    }

    #[test]
    fn secrets_are_masked_wherever_pieces_end() {
        check(&["hunter2"], "the hunter2, hunter", "the ***, hunter");
        check(&["hunter2"], "hunthunter2hunter2", "hunt******");
        check(
            &["pass", "password"],
            "pass passwor password",
            "*** ***wor ***",
        );
        check(&["abcd", "cdef"], "xabcdefx", "x***x");
        check(&["aaaa"], "aaaaaa b", "*** b");
        check(
            &["pä\"ss"],
            "{\"key\":\"pä\\\"ss\"} pä\"ss",
            "{\"key\":\"***\"} ***",
        );
        check(&["two\nlines"], "a two\nlines b two\\nlines", "a *** b ***");
        check(&["abc", ""], "abc stays", "abc stays");
        check(&[], "nothing to hide", "nothing to hide");
    }

    #[test]
    fn what_is_held_back_is_no_longer_than_a_secret() {
        let mut masking = Masking::new(mask(&["0123456789"]).secrets());
        let mut out = Vec::new();
        masking.take(b"line 0123", &mut out);
        assert_eq!(
            (out.as_slice(), masking.held.as_slice()),
            (&b"line "[..], &b"0123"[..])
        );
        masking.take(b"\n", &mut out);
        assert_eq!(
            (out.as_slice(), masking.held.len()),
            (&b"line 0123\n"[..], 0)
        );
    }

    proptest! {
        #[test]
        fn no_secret_is_left(secrets in prop::collection::vec("[ab]{4,6}", 1..4), text in "[abc]{0,60}", length in 1_usize..9) {
            let mask = Mask::of(secrets);
            let mut masking = Masking::new(mask.secrets());
            let mut out = Vec::new();
            for piece in text.as_bytes().chunks(length) {
                masking.take(piece, &mut out);
            }
            masking.finish(&mut out);
            let out = String::from_utf8(out).unwrap();
            prop_assert!(mask.secrets().iter().all(|secret| !out.contains(secret.as_str())));
            prop_assert_eq!(mask.text(&text), out);
        }
    }
}
