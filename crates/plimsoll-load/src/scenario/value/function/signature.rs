//! Signatures by a private key, for tokens: RSA (RFC 8017) and ECDSA on the curve P-256, in the form that JSON Web Signatures have (RFC
//! 7518, sections 3.3 to 3.5). What is signed is the caller's.

use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaEncoding,
    RsaKeyPair,
};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject as _;
use std::fmt;
use std::sync::Arc;

/// By what algorithm is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// RSASSA-PSS with SHA-256.
    Ps256,
    /// ECDSA on P-256 with SHA-256.
    Es256,
}

/// A private key, ready to sign by one scheme. It cannot be printed.
#[derive(Clone)]
pub(super) struct Key(Arc<Pair>);

enum Pair {
    Rsa(RsaKeyPair, &'static dyn RsaEncoding),
    Ecdsa(EcdsaKeyPair),
}

impl Key {
    /// A key from PEM text.
    ///
    /// # Errors
    /// The problem, and what to write instead; nothing of the key.
    pub(super) fn from_pem(scheme: Scheme, pem: &[u8]) -> Result<Self, String> {
        let key = PrivateKeyDer::from_pem_slice(pem).map_err(|_| {
            "is PEM text with a `BEGIN PRIVATE KEY` that is not encrypted: write for instance `file:key.pem`".to_owned()
        })?;
        let pair = match scheme {
            Scheme::Rs256 => Pair::Rsa(rsa(&key)?, &RSA_PKCS1_SHA256),
            Scheme::Ps256 => Pair::Rsa(rsa(&key)?, &RSA_PSS_SHA256),
            Scheme::Es256 => Pair::Ecdsa(ecdsa(&key)?),
        };
        Ok(Self(Arc::new(pair)))
    }

    /// Appends the signature of a message.
    pub(super) fn sign(&self, message: &[u8], out: &mut Vec<u8>) {
        const SOURCE: &str = "invariant: the system gives randomness, and the key was accepted";
        let random = SystemRandom::new();
        match &*self.0 {
            Pair::Rsa(pair, encoding) => {
                let start = out.len();
                out.resize(start + pair.public().modulus_len(), 0);
                pair.sign(*encoding, &random, message, &mut out[start..])
                    .expect(SOURCE);
            }
            Pair::Ecdsa(pair) => {
                let signature = pair.sign(&random, message).expect(SOURCE);
                out.extend_from_slice(signature.as_ref());
            }
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

fn rsa(key: &PrivateKeyDer<'_>) -> Result<RsaKeyPair, String> {
    match key {
        PrivateKeyDer::Pkcs8(der) => RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()),
        PrivateKeyDer::Pkcs1(der) => RsaKeyPair::from_der(der.secret_pkcs1_der()),
        _ => return Err("is of another kind: write an RSA key".to_owned()),
    }
    .map_err(|why| format!("cannot be used ({why}): write an RSA key of 2048 to 4096 bits"))
}

fn ecdsa(key: &PrivateKeyDer<'_>) -> Result<EcdsaKeyPair, String> {
    let PrivateKeyDer::Pkcs8(der) = key else {
        return Err(
            "is of another kind: write one of the curve P-256 in PKCS #8, as `openssl pkcs8 -topk8 -nodes` makes it".to_owned(),
        );
    };
    let scheme = &ECDSA_P256_SHA256_FIXED_SIGNING;
    EcdsaKeyPair::from_pkcs8(scheme, der.secret_pkcs8_der(), &SystemRandom::new())
        .map_err(|why| format!("cannot be used ({why}): write one of the curve P-256"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::signature::{
        ECDSA_P256_SHA256_FIXED, KeyPair as _, RSA_PKCS1_2048_8192_SHA256,
        RSA_PSS_2048_8192_SHA256, UnparsedPublicKey, VerificationAlgorithm,
    };

    const RSA: &[u8] = include_bytes!("../../../../tests/data/keys/rsa.pem");
    const RSA_PKCS1: &[u8] = include_bytes!("../../../../tests/data/keys/rsa-pkcs1.pem");
    const P256: &[u8] = include_bytes!("../../../../tests/data/keys/p256.pem");

    fn verifies(scheme: Scheme, pem: &[u8], by: &'static dyn VerificationAlgorithm) {
        let key = Key::from_pem(scheme, pem).unwrap();
        let public = match &*key.0 {
            Pair::Rsa(pair, _) => pair.public_key().as_ref().to_vec(),
            Pair::Ecdsa(pair) => pair.public_key().as_ref().to_vec(),
        };
        let public = UnparsedPublicKey::new(by, public);
        let mut signature = vec![];
        key.sign(b"message", &mut signature);
        assert!(public.verify(b"message", &signature).is_ok(), "{scheme:?}");
        assert!(public.verify(b"massage", &signature).is_err(), "{scheme:?}");
    }

    #[test]
    fn signatures_are_verified_by_the_public_key() {
        verifies(Scheme::Rs256, RSA, &RSA_PKCS1_2048_8192_SHA256);
        verifies(Scheme::Rs256, RSA_PKCS1, &RSA_PKCS1_2048_8192_SHA256);
        verifies(Scheme::Ps256, RSA, &RSA_PSS_2048_8192_SHA256);
        verifies(Scheme::Es256, P256, &ECDSA_P256_SHA256_FIXED);
    }

    #[test]
    fn a_key_that_does_not_fit_says_what_to_write() {
        let check = |scheme, pem: &[u8], expected: &str| {
            let error = Key::from_pem(scheme, pem).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check(Scheme::Rs256, P256, "write an RSA key");
        check(Scheme::Es256, RSA, "write one of the curve P-256");
        check(Scheme::Es256, RSA_PKCS1, "openssl pkcs8");
        check(Scheme::Ps256, b"hush", "is PEM text");
    }

    #[test]
    fn a_key_is_not_printed() {
        let key = Key::from_pem(Scheme::Es256, P256).unwrap();
        assert_eq!(format!("{key:?}"), "Key(..)");
    }
}
