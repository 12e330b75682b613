//! `hmac(sha256, key, message)`: RFC 2104, in hex or, with a fourth argument, in base64. For signing requests.

use super::base64::encode_tail;
use super::{Arguments, Function};
use crate::scenario::feeder::Feeder;
use crate::scenario::memory::Memory;
use crate::scenario::value::Value;
use base64::engine::general_purpose::{GeneralPurpose, STANDARD, URL_SAFE_NO_PAD};
use ring::hmac;

#[derive(Debug, Clone)]
pub(in crate::scenario) struct Hmac {
    algorithm: Algorithm,
    key: Value,
    message: Value,
    encoding: Encoding,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    Sha1,
    Sha256,
    Sha512,
}

#[derive(Debug, Clone, Copy)]
enum Encoding {
    Hex,
    Base64(&'static GeneralPurpose),
}

const ALGORITHMS: [(&str, Algorithm); 3] = [
    ("sha1", Algorithm::Sha1),
    ("sha256", Algorithm::Sha256),
    ("sha512", Algorithm::Sha512),
];

pub(super) fn compile(mut arguments: Arguments<'_>) -> Result<Function, String> {
    let count = arguments.count(
        3,
        4,
        "hmac(sha256, key, message)` or `hmac(sha256, key, message, base64)",
    )?;
    let encodings = [
        ("hex", Encoding::Hex),
        ("base64", Encoding::Base64(&STANDARD)),
        ("base64url", Encoding::Base64(&URL_SAFE_NO_PAD)),
    ];
    Ok(Function::Hmac(Hmac {
        algorithm: arguments.choice(0, &ALGORITHMS)?,
        key: arguments.value(1)?,
        message: arguments.value(2)?,
        encoding: if count == 4 {
            arguments.choice(3, &encodings)?
        } else {
            Encoding::Hex
        },
    }))
}

impl Hmac {
    pub(super) fn is_constant(&self) -> bool {
        self.key.constant().is_some() && self.message.constant().is_some()
    }

    pub(super) fn render(&self, feeders: &[Feeder], memory: &mut Memory, out: &mut Vec<u8>) {
        let start = out.len();
        self.key.render(feeders, memory, out);
        let message = out.len();
        self.message.render(feeders, memory, out);
        let (key, message) = out[start..].split_at(message - start);
        let tag = sign(self.algorithm, key, message);
        out.truncate(start);
        match self.encoding {
            Encoding::Hex => out.extend(tag.as_ref().iter().flat_map(|byte| hex(*byte))),
            Encoding::Base64(engine) => {
                out.extend_from_slice(tag.as_ref());
                encode_tail(engine, memory, out, start);
            }
        }
    }
}

/// The message authentication code.
pub(super) fn sign(algorithm: Algorithm, key: &[u8], message: &[u8]) -> hmac::Tag {
    let algorithm = match algorithm {
        Algorithm::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
        Algorithm::Sha256 => hmac::HMAC_SHA256,
        Algorithm::Sha512 => hmac::HMAC_SHA512,
    };
    hmac::sign(&hmac::Key::new(algorithm, key), message)
}

fn hex(byte: u8) -> [u8; 2] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    [
        DIGITS[usize::from(byte >> 4)],
        DIGITS[usize::from(byte & 15)],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(algorithm: Algorithm, key: &[u8], message: &[u8], expected: &str) {
        let tag = sign(algorithm, key, message);
        let shown: Vec<u8> = tag.as_ref().iter().flat_map(|byte| hex(*byte)).collect();
        assert_eq!(String::from_utf8(shown).unwrap(), expected);
    }

    /// Test case 2 of RFC 2202 and of RFC 4231.
    #[test]
    fn codes_are_those_of_the_standards() {
        let (key, message) = (b"Jefe", b"what do ya want for nothing?");
        check(
            Algorithm::Sha1,
            key,
            message,
            "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
        );
        check(
            Algorithm::Sha256,
            key,
            message,
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        );
        check(
            Algorithm::Sha512,
            key,
            message,
            "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
        );
    }
}
