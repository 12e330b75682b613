//! The key that tokens are to be signed with: read once, and of one kind for good.

use super::Fault;
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use ring::{hmac, signature};
use std::fmt;
use x509_parser::oid_registry::{OID_EC_P256, OID_NIST_EC_P384};
use x509_parser::prelude::{FromDer as _, X509Certificate};
use x509_parser::public_key::PublicKey;
use x509_parser::x509::SubjectPublicKeyInfo;

/// Bits that an RSA key has at least and at most.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;
/// As Go's `base64.StdEncoding` reads it: what is left over of the last character does not count.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// How tokens are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Hmac,
    Rsa,
    Ecdsa,
}

/// A key that verifies signatures. Never shown.
pub(crate) struct VerifyingKey {
    method: Method,
    material: Material,
}

enum Material {
    /// It verifies nothing.
    Nothing,
    /// For SHA-256, SHA-384 and SHA-512.
    Secret(Box<[hmac::Key; 3]>),
    /// `RSAPublicKey` of RFC 8017, in DER.
    Rsa(Vec<u8>),
    /// Points, uncompressed.
    P256(Vec<u8>),
    P384(Vec<u8>),
}

/// A key as it is written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Written {
    Bytes(Vec<u8>),
    /// It is to be fetched, in plain text or in Base64.
    Url,
    /// It is neither a URL nor Base64.
    Unreadable,
}

/// Why a key cannot be one of its method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unfit {
    #[error("this secret is empty, so anybody could sign with it")]
    Empty,
    #[error(
        "this is a public key or a certificate, which everybody may know: as a secret it would let anybody sign; write `rsa` or `ecdsa`"
    )]
    Public,
    #[error(
        "this is no public key in PKIX form (`BEGIN PUBLIC KEY`) and no certificate, in PEM or DER"
    )]
    NoKey,
    #[error(
        "this key is of another kind than `jwt_signing_method` says, or of one that is not known here"
    )]
    OtherKind,
    #[error("an RSA key has 2048 to 8192 bits here")]
    Size,
    #[error("an elliptic curve is P-256 or P-384 here")]
    Curve,
}

impl Method {
    /// As the name of an algorithm says it; `None`: there is no such algorithm. `none` and `EdDSA` are of no method.
    fn of(algorithm: &str) -> Option<Option<Self>> {
        Some(match algorithm {
            "HS256" | "HS384" | "HS512" => Some(Self::Hmac),
            "RS256" | "RS384" | "RS512" | "PS256" | "PS384" | "PS512" => Some(Self::Rsa),
            "ES256" | "ES384" | "ES512" => Some(Self::Ecdsa),
            "EdDSA" | "none" => None,
            _ => return None,
        })
    }
}

impl Written {
    /// The key, or its place, that a text in Base64 holds.
    pub(crate) fn read(text: &str) -> Self {
        if is_url(text.as_bytes()) {
            return Self::Url;
        }
        // Go passes over ends of lines.
        let text: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
        match BASE64.decode(text) {
            Ok(bytes) if is_url(&bytes) => Self::Url,
            Ok(bytes) => Self::Bytes(bytes),
            Err(_) => Self::Unreadable,
        }
    }
}

fn is_url(text: &[u8]) -> bool {
    let begins = |scheme: &[u8]| {
        let start = text.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    begins(b"http://") || begins(b"https://")
}

impl VerifyingKey {
    /// The key of this method that is written as `bytes`: a secret as it is, anything else a public key.
    ///
    /// # Errors
    /// When it is no such key, or none that can be relied on.
    pub(crate) fn new(method: Method, bytes: &[u8]) -> Result<Self, Unfit> {
        let material = match method {
            Method::Hmac => secret(bytes)?,
            Method::Rsa | Method::Ecdsa => public(method, bytes)?,
        };
        Ok(Self { method, material })
    }

    /// A key with which nothing was ever signed.
    pub(crate) fn nobodys(method: Method) -> Self {
        Self {
            method,
            material: Material::Nothing,
        }
    }

    /// Whether `signature` is this key's of `message`, by the algorithm that the token names.
    pub(super) fn check(
        &self,
        algorithm: &str,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), Fault> {
        let method = Method::of(algorithm).ok_or(Fault::Invalid)?;
        if method != Some(self.method) {
            return Err(Fault::Algorithm);
        }
        let public = |algorithm: &'static dyn signature::VerificationAlgorithm, key: &[u8]| {
            let key = signature::UnparsedPublicKey::new(algorithm, key);
            key.verify(message, signature).map_err(|_| Fault::Invalid)
        };
        let secret = |key: &hmac::Key| {
            // In time that says nothing about how much of it is right.
            hmac::verify(key, message, signature).map_err(|_| Fault::Invalid)
        };
        match (&self.material, algorithm) {
            (Material::Secret(keys), "HS256") => secret(&keys[0]),
            (Material::Secret(keys), "HS384") => secret(&keys[1]),
            (Material::Secret(keys), "HS512") => secret(&keys[2]),
            (Material::Rsa(key), "RS256") => public(&signature::RSA_PKCS1_2048_8192_SHA256, key),
            (Material::Rsa(key), "RS384") => public(&signature::RSA_PKCS1_2048_8192_SHA384, key),
            (Material::Rsa(key), "RS512") => public(&signature::RSA_PKCS1_2048_8192_SHA512, key),
            (Material::Rsa(key), "PS256") => public(&signature::RSA_PSS_2048_8192_SHA256, key),
            (Material::Rsa(key), "PS384") => public(&signature::RSA_PSS_2048_8192_SHA384, key),
            (Material::Rsa(key), "PS512") => public(&signature::RSA_PSS_2048_8192_SHA512, key),
            (Material::P256(key), "ES256") => public(&signature::ECDSA_P256_SHA256_FIXED, key),
            (Material::P384(key), "ES384") => public(&signature::ECDSA_P384_SHA384_FIXED, key),
            _ => Err(Fault::Invalid),
        }
    }
}

fn secret(bytes: &[u8]) -> Result<Material, Unfit> {
    if bytes.is_empty() {
        return Err(Unfit::Empty);
    }
    if is_public(bytes) {
        return Err(Unfit::Public);
    }
    let algorithms = [hmac::HMAC_SHA256, hmac::HMAC_SHA384, hmac::HMAC_SHA512];
    let keys = algorithms.map(|algorithm| hmac::Key::new(algorithm, bytes));
    Ok(Material::Secret(Box::new(keys)))
}

/// Whether it is what is handed out: PEM, DER, or a key or key set in JSON (RFC 7517).
fn is_public(bytes: &[u8]) -> bool {
    let pem = b"-----BEGIN ";
    let json = || serde_json::from_slice::<serde_json::Map<_, serde_json::Value>>(bytes);
    bytes.windows(pem.len()).any(|window| window == pem)
        || SubjectPublicKeyInfo::from_der(bytes).is_ok()
        || X509Certificate::from_der(bytes).is_ok()
        || json().is_ok_and(|json| json.contains_key("kty") || json.contains_key("keys"))
}

/// A public key, or that of a certificate, in PEM or DER: what Go's `x509.ParsePKIXPublicKey` and `x509.ParseCertificate` read.
fn public(method: Method, bytes: &[u8]) -> Result<Material, Unfit> {
    let pem = x509_parser::pem::parse_x509_pem(bytes).ok();
    let der = pem.as_ref().map_or(bytes, |(_, pem)| &pem.contents);
    if let Ok((rest, info)) = SubjectPublicKeyInfo::from_der(der) {
        return match rest {
            [] => material(method, &info),
            _ => Err(Unfit::NoKey),
        };
    }
    match X509Certificate::from_der(der) {
        Ok(([], certificate)) => material(method, certificate.public_key()),
        _ => Err(Unfit::NoKey),
    }
}

fn material(method: Method, info: &SubjectPublicKeyInfo<'_>) -> Result<Material, Unfit> {
    let bits = info.subject_public_key.data.to_vec();
    match (method, info.parsed().map_err(|_| Unfit::NoKey)?) {
        (Method::Rsa, PublicKey::RSA(key)) if RSA_BITS.contains(&key.key_size()) => {
            Ok(Material::Rsa(bits))
        }
        (Method::Rsa, PublicKey::RSA(_)) => Err(Unfit::Size),
        (Method::Ecdsa, PublicKey::EC(_)) => {
            let curve = info.algorithm.parameters.as_ref();
            let curve = curve.and_then(|curve| curve.as_oid().ok());
            match curve {
                Some(curve) if curve == OID_EC_P256 => Ok(Material::P256(bits)),
                Some(curve) if curve == OID_NIST_EC_P384 => Ok(Material::P384(bits)),
                _ => Err(Unfit::Curve),
            }
        }
        _ => Err(Unfit::OtherKind),
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifyingKey({:?}, …)", self.method)
    }
}
