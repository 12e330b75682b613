//! `jwt(HS256, key, claims)`: a signed JSON Web Token of RFC 7519; the claims are JSON text.

use super::base64::encode_tail;
use super::hmac::{Algorithm, digest};
use super::{Arguments, Function};
use crate::scenario::feeder::Feeder;
use crate::scenario::memory::Memory;
use crate::scenario::value::Value;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

#[derive(Debug, Clone)]
pub(in crate::scenario) struct Jwt {
    algorithm: Algorithm,
    /// Encoded already, with the dot after it.
    header: &'static [u8],
    key: Value,
    claims: Value,
}

const HS256: (Algorithm, &[u8]) = (Algorithm::Sha256, b"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.");
const HS512: (Algorithm, &[u8]) = (Algorithm::Sha512, b"eyJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9.");

pub(super) fn compile(mut arguments: Arguments<'_>) -> Result<Function, String> {
    arguments.count(3, 3, "jwt(HS256, key, claims)")?;
    if let Some(later @ ("RS256" | "ES256" | "PS256" | "EdDSA" | "RS512" | "ES512")) =
        arguments.word(0)
    {
        return Err(format!(
            "`{later}` is not available in this version: write `HS256` or `HS512`"
        ));
    }
    let (algorithm, header) = arguments.choice(0, &[("HS256", HS256), ("HS512", HS512)])?;
    Ok(Function::Jwt(Jwt {
        algorithm,
        header,
        key: arguments.value(1)?,
        claims: arguments.value(2)?,
    }))
}

impl Jwt {
    pub(super) fn is_constant(&self) -> bool {
        self.key.constant().is_some() && self.claims.constant().is_some()
    }

    pub(super) fn render(&self, feeders: &[Feeder], memory: &mut Memory, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(self.header);
        let claims = out.len();
        self.claims.render(feeders, memory, out);
        encode_tail(&URL_SAFE_NO_PAD, memory, out, claims);
        let key = out.len();
        self.key.render(feeders, memory, out);
        let (signed, key_bytes) = out[start..].split_at(key - start);
        let (digest, length) = digest(self.algorithm, key_bytes, signed);
        out.truncate(key);
        out.push(b'.');
        out.extend_from_slice(&digest[..length]);
        encode_tail(&URL_SAFE_NO_PAD, memory, out, key + 1);
    }
}
