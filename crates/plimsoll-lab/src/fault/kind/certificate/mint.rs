//! A certificate like another one but for its flaw: for the same key, so that the server can show it.

use crate::clock::now;
use plimsoll_experiment::Flaw;
use plimsoll_http::tls::certificates;
use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, Issuer, KeyPair,
    SubjectPublicKeyInfo,
};
use std::time::UNIX_EPOCH;
use x509_parser::prelude::{FromDer as _, GeneralName, X509Certificate};
use x509_parser::time::ASN1Time;

const DAY_S: i64 = 24 * 3600;
/// The name of the host of a certificate that is for another.
const ANOTHER: &str = "another-host.invalid";
const END: &str = "-----END CERTIFICATE-----";

/// A certificate that was minted.
pub(super) struct Minted {
    /// Itself.
    pub(super) certificate: Vec<u8>,
    /// The name by which clients ask for it.
    pub(super) name: String,
    /// The text of its file, with all else that the original's held.
    pub(super) text: String,
}

/// The first certificate of a text: the server's own.
pub(super) fn leaf(text: &str) -> Result<Minted, String> {
    let chain = certificates(text).map_err(|error| format!("its certificate: {error}"))?;
    let own = chain.first().ok_or("its file has no certificate")?;
    let (_, parsed) = X509Certificate::from_der(own).map_err(|error| error.to_string())?;
    Ok(Minted {
        certificate: own.to_vec(),
        name: names(&parsed)
            .into_iter()
            .next()
            .unwrap_or_else(|| "localhost".to_owned()),
        text: text.to_owned(),
    })
}

/// One like the first of a text, signed by an authority (certificate and key, PEM), with a flaw.
pub(super) fn like(text: &str, authority: (&str, &str), flaw: Flaw) -> Result<Minted, String> {
    let original = leaf(text)?;
    let (_, parsed) =
        X509Certificate::from_der(&original.certificate).map_err(|error| error.to_string())?;
    let unmade = |error: rcgen::Error| format!("no certificate could be made: {error}");
    let names = match flaw {
        Flaw::WrongName => vec![ANOTHER.to_owned()],
        _ => names(&parsed),
    };
    let mut params = CertificateParams::new(names).map_err(unmade)?;
    params.distinguished_name = common_name(&parsed);
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let (from, until) = match flaw {
        Flaw::Expired => (-30, -1),
        Flaw::NotYetValid => (1, 30),
        Flaw::WrongName | Flaw::UnknownIssuer => (-1, 30),
    };
    let day = |days: i64| -> Result<_, String> {
        let now = now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs();
        let at = now.cast_signed() + days * DAY_S;
        let at = ASN1Time::from_timestamp(at).map_err(|error| error.to_string())?;
        Ok(at.to_datetime())
    };
    (params.not_before, params.not_after) = (day(from)?, day(until)?);
    let key = SubjectPublicKeyInfo::from_der(parsed.public_key().raw).map_err(unmade)?;
    let minted = match flaw {
        Flaw::UnknownIssuer => {
            let mut nobody = CertificateParams::new(Vec::new()).map_err(unmade)?;
            nobody
                .distinguished_name
                .push(DnType::CommonName, "nobody's authority");
            let issuer = Issuer::new(nobody, KeyPair::generate().map_err(unmade)?);
            params.signed_by(&key, &issuer).map_err(unmade)?
        }
        _ => {
            let (certificate, key_of) = authority;
            let signs = KeyPair::from_pem(key_of)
                .map_err(|error| format!("the authority's key: {error}"))?;
            let issuer = Issuer::from_ca_cert_pem(certificate, signs)
                .map_err(|error| format!("the authority's certificate: {error}"))?;
            params.signed_by(&key, &issuer).map_err(unmade)?
        }
    };
    Ok(Minted {
        certificate: minted.der().to_vec(),
        text: replaced(text, &minted.pem()),
        name: original.name,
    })
}

/// The text with another certificate in the place of its first, whatever stands before and behind it.
fn replaced(text: &str, certificate: &str) -> String {
    let begin = text.find("-----BEGIN CERTIFICATE-----").unwrap_or(0);
    let end = text.find(END).map_or(text.len(), |end| end + END.len());
    let (before, behind) = (text.get(..begin), text.get(end..));
    format!(
        "{}{}{}",
        before.unwrap_or_default(),
        certificate.trim_end(),
        behind.unwrap_or_default()
    )
}

/// The host names and addresses that a certificate is for.
fn names(certificate: &X509Certificate<'_>) -> Vec<String> {
    let alternative = certificate.subject_alternative_name().ok().flatten();
    let names = alternative
        .iter()
        .flat_map(|names| &names.value.general_names);
    let names = names.filter_map(|name| match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => address(bytes),
        _ => None,
    });
    names.collect()
}

fn address(bytes: &[u8]) -> Option<String> {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        return Some(std::net::Ipv4Addr::from(four).to_string());
    }
    let sixteen = <[u8; 16]>::try_from(bytes).ok()?;
    Some(std::net::Ipv6Addr::from(sixteen).to_string())
}

fn common_name(certificate: &X509Certificate<'_>) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    let common = certificate.subject().iter_common_name().next();
    if let Some(text) = common.and_then(|common| common.as_str().ok()) {
        name.push(DnType::CommonName, text);
    }
    name
}
