//! `jwt(HS256, key, claims)`: a signed JSON Web Token of RFC 7519; the claims are JSON text.

use super::base64::encode_tail;
use super::hmac::{Algorithm, sign};
use super::signature::{Key, Scheme};
use super::{Arguments, Function};
use crate::scenario::feeder::Feeder;
use crate::scenario::memory::Memory;
use crate::scenario::value::Value;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

#[derive(Debug, Clone)]
pub(in crate::scenario) struct Jwt {
    /// Encoded already, with the dot after it.
    header: &'static [u8],
    signer: Signer,
    claims: Value,
}

/// Signer of a token.
#[derive(Debug, Clone)]
enum Signer {
    /// A secret that both ends know.
    Shared(Algorithm, Value),
    /// A private key.
    Private(Key),
}

/// How a word of the first argument has it signed.
#[derive(Debug, Clone, Copy)]
enum Method {
    Shared(Algorithm),
    Private(Scheme),
}

/// Every algorithm, with the encoded header that names it.
const METHODS: [(&str, (Method, &[u8])); 5] = [
    (
        "HS256",
        (
            Method::Shared(Algorithm::Sha256),
            b"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.",
        ),
    ),
    (
        "HS512",
        (
            Method::Shared(Algorithm::Sha512),
            b"eyJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9.",
        ),
    ),
    (
        "RS256",
        (
            Method::Private(Scheme::Rs256),
            b"eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.",
        ),
    ),
    (
        "PS256",
        (
            Method::Private(Scheme::Ps256),
            b"eyJhbGciOiJQUzI1NiIsInR5cCI6IkpXVCJ9.",
        ),
    ),
    (
        "ES256",
        (
            Method::Private(Scheme::Es256),
            b"eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.",
        ),
    ),
];

pub(super) fn compile(mut arguments: Arguments<'_>) -> Result<Function, String> {
    arguments.count(3, 3, "jwt(HS256, key, claims)")?;
    if let Some(later @ ("RS384" | "RS512" | "PS384" | "PS512" | "ES384" | "ES512" | "EdDSA")) =
        arguments.word(0)
    {
        return Err(format!(
            "`{later}` is not available in this version: write `HS256`, `HS512`, `RS256`, `PS256` or `ES256`"
        ));
    }
    let (method, header) = arguments.choice(0, &METHODS)?;
    let key = arguments.value(1)?;
    Ok(Function::Jwt(Jwt {
        header,
        signer: match method {
            Method::Shared(algorithm) => Signer::Shared(algorithm, key),
            Method::Private(scheme) => Signer::Private(private(scheme, &key)?),
        },
        claims: arguments.value(2)?,
    }))
}

/// A private key is read once, before the load.
fn private(scheme: Scheme, key: &Value) -> Result<Key, String> {
    let pem = key.constant().ok_or(
        "argument 2 of `jwt` is a private key here, the same for all: write for instance `file:key.pem`",
    )?;
    Key::from_pem(scheme, pem).map_err(|why| format!("argument 2 of `jwt`, the key, {why}"))
}

impl Jwt {
    pub(super) fn is_constant(&self) -> bool {
        let is_key_constant = match &self.signer {
            Signer::Shared(_, key) => key.constant().is_some(),
            Signer::Private(_) => true,
        };
        is_key_constant && self.claims.constant().is_some()
    }

    pub(super) fn render(&self, feeders: &[Feeder], memory: &mut Memory, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(self.header);
        let claims = out.len();
        self.claims.render(feeders, memory, out);
        encode_tail(&URL_SAFE_NO_PAD, memory, out, claims);
        let signed = out.len();
        match &self.signer {
            Signer::Shared(algorithm, key) => {
                key.render(feeders, memory, out);
                let (message, key) = out[start..].split_at(signed - start);
                let tag = sign(*algorithm, key, message);
                out.truncate(signed);
                out.push(b'.');
                out.extend_from_slice(tag.as_ref());
            }
            Signer::Private(key) => {
                let mut signature = vec![];
                key.sign(&out[start..], &mut signature);
                out.push(b'.');
                out.extend_from_slice(&signature);
            }
        }
        encode_tail(&URL_SAFE_NO_PAD, memory, out, signed + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;

    const KEY: &[u8] = include_bytes!("../../../../tests/data/keys/rsa.pem");
    /// Output of `openssl dgst -sha256 -sign` for the same header and claims.
    const BY_OPENSSL: &str = "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhbm4ifQ.I-vHCmMRCSrJwN08sFgdPO1IoZIeg6-cbyR4OXyS9mjrwUSRSfikSjpcP2Z6nuu1rMoamVqRRgEDMYkzI7es6PGJ8lAsI7vJyubV1_HjpU5dJrAVwjKduCmSMfo4n1SYiSluXlesTcCkl6v4BzZNo4ZH2qA5qQcxtzeekpWO91jeMZL3DcJlyZyKLEAI9YBImxhK63tR4Y2wUO8VYJ0q_QpIte-M9CQZRnPovUpHKYFvETShGMHqgyPMnc6FmUwyn9mzI5QxAya7shsJFqHH_BNWhUkFaARdWkWfk0DPaYtTSai5M1Lhfl3B-KJWZ3gsBFgqxSpEqcenjHmkX86IxQ";

    fn token(header: &'static [u8], scheme: Scheme, pem: &[u8]) -> String {
        let jwt = Jwt {
            header,
            signer: Signer::Private(Key::from_pem(scheme, pem).unwrap()),
            claims: Value::Literal(br#"{"sub":"ann"}"#.as_slice().into()),
        };
        let mut out = b"Bearer ".to_vec();
        jwt.render(&[], &mut Memory::default(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_token_by_rsa_is_that_of_another_implementation() {
        let (_, (_, header)) = METHODS[2];
        let expected = format!("Bearer {BY_OPENSSL}");
        assert_eq!(token(header, Scheme::Rs256, KEY), expected);
    }

    #[test]
    fn headers_name_their_algorithms() {
        for (name, (_, header)) in METHODS {
            let json = URL_SAFE_NO_PAD.decode(&header[..header.len() - 1]).unwrap();
            let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
            assert_eq!(json, serde_json::json!({ "alg": name, "typ": "JWT" }));
        }
    }
}
