//! A certificate authority and what it issues, with keys on the curve P-256: made anew for each test or measurement, never committed.

use crate::Error;
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DistinguishedName,
    DnType, IsCa, Issuer, KeyIdMethod, KeyPair, PublicKeyData as _, RevokedCertParams, SanType,
    SerialNumber,
};
use std::fs;
use std::path::Path;

/// An authority that issues certificates. No two have the same name.
#[derive(Debug)]
pub struct Authority {
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
    params: CertificateParams,
}

/// A certificate and its key, as PEM text.
#[derive(Debug, Clone)]
pub struct Issued {
    /// The certificate.
    pub certificate: String,
    /// Its key, in PKCS #8.
    pub key: String,
    /// Its number, by which it is revoked.
    pub serial: Vec<u8>,
}

/// The names that a certificate is for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Names<'a> {
    /// Its subject's common name.
    pub common_name: &'a str,
    /// Its alternative names that are URIs.
    pub uris: &'a [&'a str],
    /// Those that are host names.
    pub hosts: &'a [&'a str],
}

impl Authority {
    /// A new one, with a key of its own.
    ///
    /// # Errors
    /// [`Error::Measured`], as for all of its functions: a certificate could not be made.
    pub fn new() -> Result<Self, Error> {
        Self::made(|_| {}).map_err(failed)
    }

    /// An authority with a key of its own that expired years ago.
    pub fn expired() -> Result<Self, Error> {
        let expired = |params: &mut CertificateParams| {
            params.not_after = rcgen::date_time_ymd(2020, 1, 1);
        };
        Self::made(expired).map_err(failed)
    }

    /// Somebody who has its name and another key.
    pub fn impersonated(&self) -> Result<Self, Error> {
        let key = KeyPair::generate().map_err(failed)?;
        Self::with(self.params.clone(), key).map_err(failed)
    }

    /// Its own certificate as PEM text, which those are to trust who are to trust what it issues.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Writes the files of a server for these names and of a new authority that vouches for it: `ca.pem`, `ca.key`, `server.pem` and
    /// `server.key`. Gives the server's.
    ///
    /// # Errors
    /// Also [`Error::Io`]: a file cannot be written.
    pub fn equip(directory: &Path, names: &[&str]) -> Result<Issued, Error> {
        let authority = Self::new()?;
        let issued = authority.issue(names)?;
        for (name, text) in [
            ("ca.pem", authority.certificate()),
            ("ca.key", &authority.issuer.key().serialize_pem()),
            ("server.pem", &issued.certificate),
            ("server.key", &issued.key),
        ] {
            let written = fs::write(directory.join(name), text);
            written.map_err(Error::when("writing a certificate"))?;
        }
        Ok(issued)
    }

    /// A certificate for these names or addresses; the first is its subject's common name.
    pub fn issue(&self, names: &[&str]) -> Result<Issued, Error> {
        self.issued(names, |_| {}).map_err(failed)
    }

    /// A certificate for these names or addresses that expired years ago.
    pub fn issue_expired(&self, names: &[&str]) -> Result<Issued, Error> {
        let expired = |params: &mut CertificateParams| {
            params.not_after = rcgen::date_time_ymd(2020, 1, 1);
        };
        self.issued(names, expired).map_err(failed)
    }

    /// A certificate for these names and no others.
    pub fn issue_for(&self, names: Names<'_>) -> Result<Issued, Error> {
        let uris = names.uris.iter().map(|uri| (*uri).try_into());
        let uris: Vec<_> = uris.collect::<Result<_, _>>().map_err(failed)?;
        self.issued(names.hosts, |params| {
            params.distinguished_name = called(names.common_name);
            let uris = uris.into_iter().map(SanType::URI);
            params.subject_alt_names.extend(uris);
        })
        .map_err(failed)
    }

    /// Its list of revoked certificates as PEM text: these, until the first day of this year.
    pub fn revoked(&self, certificates: &[&Issued], until: i32) -> Result<String, Error> {
        let since = rcgen::date_time_ymd(2000, 1, 1);
        let revoked = certificates.iter().map(|issued| RevokedCertParams {
            serial_number: SerialNumber::from_slice(&issued.serial),
            revocation_time: since,
            reason_code: None,
            invalidity_date: None,
        });
        let list = CertificateRevocationListParams {
            this_update: since,
            next_update: rcgen::date_time_ymd(until, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let signed = list.signed_by(&self.issuer).map_err(failed)?;
        signed.pem().map_err(failed)
    }

    fn made(change: impl FnOnce(&mut CertificateParams)) -> Result<Self, rcgen::Error> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new([])?;
        // One name with two keys would make a forgery of each other's certificates, where a stranger is meant.
        let number: String = key.der_bytes()[1..5]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        params.distinguished_name = called(&format!("authority {number}"));
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        change(&mut params);
        Self::with(params, key)
    }

    fn with(params: CertificateParams, key: KeyPair) -> Result<Self, rcgen::Error> {
        Ok(Self {
            certificate: params.self_signed(&key)?.pem(),
            issuer: Issuer::new(params.clone(), key),
            params,
        })
    }

    fn issued(
        &self,
        names: &[&str],
        change: impl FnOnce(&mut CertificateParams),
    ) -> Result<Issued, rcgen::Error> {
        let key = KeyPair::generate()?;
        let own: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(own)?;
        params.distinguished_name = called(names.first().copied().unwrap_or_default());
        // Positive, and without a zero in front.
        let mut serial = key.der_bytes()[1..17].to_vec();
        serial[0] = serial[0] & 0x7f | 0x40;
        params.serial_number = Some(SerialNumber::from_slice(&serial));
        change(&mut params);
        Ok(Issued {
            certificate: params.signed_by(&key, &self.issuer)?.pem(),
            key: key.serialize_pem(),
            serial,
        })
    }
}

fn called(name: &str) -> DistinguishedName {
    let mut called = DistinguishedName::new();
    called.push(DnType::CommonName, name);
    called
}

fn failed(error: rcgen::Error) -> Error {
    Error::Measured(format!("making a certificate: {error}"))
}
