//! Who a client is: the first of the kinds of names that its certificate has, in the order that the configuration gives. Pure.
//!
//! A certificate with two names of that kind identifies nobody: which of them was meant would be a guess, and guessing leads to the wrong
//! data. What follows from an identity is [`crate::clients::shard_map`]'s.

use crate::clients::certificate::Certificate;
use plimsoll_base::digest::Digest;
use std::fmt;

/// Property that can identify a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A subject alternative name that is a URI, such as a SPIFFE ID.
    Uri,
    /// A subject alternative name that is a host name.
    Dns,
    /// The subject's common name, together with who issued the certificate.
    IssuerCn,
    /// The certificate itself.
    Sha256,
}

impl Kind {
    /// Every kind, in the order that holds unless another is configured.
    pub(crate) const ALL: [Self; 4] = [Self::Uri, Self::Dns, Self::IssuerCn, Self::Sha256];
}

/// A client's identity: exact, decoded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Identity {
    Uri(Box<str>),
    /// Lower case.
    Dns(Box<str>),
    IssuerCn {
        /// As RFC 4514 writes it.
        issuer: Box<str>,
        cn: Box<str>,
    },
    Sha256(Digest),
}

/// Why a certificate identifies nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unidentified {
    /// Several names of the kind that decides.
    #[error("your certificate has {count} {kind}: which one is meant is not guessed")]
    Ambiguous { kind: &'static str, count: usize },
    /// None of the kinds that are looked at.
    #[error("your certificate has none of the names that identify a client here")]
    Nameless,
}

impl Identity {
    /// Who shows this certificate.
    pub(crate) fn of(certificate: &Certificate, order: &[Kind]) -> Result<Self, Unidentified> {
        for kind in order {
            let found = match kind {
                Kind::Uri => only(&certificate.uris, "URIs")?.map(|uri| Self::Uri(uri.into())),
                Kind::Dns => {
                    only(&certificate.hosts, "DNS names")?.map(|host| Self::Dns(host.into()))
                }
                Kind::IssuerCn => {
                    only(&certificate.common_names, "common names")?.map(|cn| Self::IssuerCn {
                        issuer: certificate.issuer.as_str().into(),
                        cn: cn.into(),
                    })
                }
                Kind::Sha256 => Some(Self::Sha256(certificate.fingerprint)),
            };
            if let Some(identity) = found {
                return Ok(identity);
            }
        }
        Err(Unidentified::Nameless)
    }
}

impl Identity {
    /// Who shows the certificate in this DER text; who is nobody by its names is known by the certificate itself.
    pub(crate) fn of_any(der: &[u8], order: &[Kind]) -> Self {
        let certificate = Certificate::read(der).ok();
        let known = certificate.and_then(|certificate| Self::of(&certificate, order).ok());
        known.unwrap_or_else(|| Self::Sha256(Digest::of(der)))
    }
}

fn only<'a>(names: &'a [String], kind: &'static str) -> Result<Option<&'a str>, Unidentified> {
    match names {
        [] => Ok(None),
        [name] => Ok(Some(name)),
        several => Err(Unidentified::Ambiguous {
            kind,
            count: several.len(),
        }),
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uri(uri) => write!(f, "URI {uri}"),
            Self::Dns(host) => write!(f, "DNS {host}"),
            Self::IssuerCn { issuer, cn } => write!(f, "CN {cn} issued by {issuer}"),
            Self::Sha256(digest) => write!(f, "SHA-256 {}", digest.to_hex()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::certificate::Number;

    fn certificate(uris: &[&str], hosts: &[&str], common_names: &[&str]) -> Certificate {
        let owned = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        Certificate {
            subject: String::new(),
            issuer: "CN=ca".to_owned(),
            common_names: owned(common_names),
            uris: owned(uris),
            hosts: owned(hosts),
            fingerprint: Digest::of(b"x"),
            number: Number {
                issuer: Box::default(),
                serial: Box::default(),
            },
            not_after: 0,
        }
    }

    #[test]
    fn the_first_kind_that_there_is_decides_and_must_be_single() {
        use Kind::{Dns, IssuerCn, Sha256, Uri};
        let check = |certificate: &Certificate, order: &[Kind], expected: &str| {
            let told = match Identity::of(certificate, order) {
                Ok(identity) => identity.to_string(),
                Err(unidentified) => unidentified.to_string(),
            };
            assert_eq!(told, expected, "{order:?}");
        };
        let all = certificate(&["urn:a"], &["a.example"], &["a"]);
        check(&all, &Kind::ALL, "URI urn:a");
        check(&all, &[Dns, Uri], "DNS a.example");
        check(&all, &[IssuerCn], "CN a issued by CN=ca");
        let hash = "SHA-256 2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
        check(&all, &[Sha256, Uri], hash);
        let none = certificate(&[], &[], &[]);
        check(&none, &Kind::ALL, hash);
        check(
            &none,
            &[Uri, Dns, IssuerCn],
            "your certificate has none of the names that identify a client here",
        );
        let two = certificate(&["urn:a", "urn:a"], &["a.example"], &[]);
        check(
            &two,
            &Kind::ALL,
            "your certificate has 2 URIs: which one is meant is not guessed",
        );
        check(&two, &[Dns, Uri], "DNS a.example");
    }
}
