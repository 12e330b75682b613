//! A certificate authority and what it issues, with keys on the curve P-256: made anew for each test or measurement, never committed.

use crate::Trouble;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    PublicKeyData as _,
};

/// An authority that issues certificates. No two have the same name.
#[derive(Debug)]
pub struct Authority {
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key, as PEM text.
#[derive(Debug, Clone)]
pub struct Issued {
    /// The certificate.
    pub certificate: String,
    /// Its key, in PKCS #8.
    pub key: String,
}

impl Authority {
    /// A new one, with a key of its own.
    ///
    /// # Errors
    /// [`Trouble::Measured`], as for all of its functions: a certificate could not be made.
    pub fn new() -> Result<Self, Trouble> {
        Self::made().map_err(failed)
    }

    /// Its own certificate as PEM text, which those are to trust who are to trust what it issues.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// A certificate for these names or addresses; the first is its subject's common name.
    pub fn issue(&self, names: &[&str]) -> Result<Issued, Trouble> {
        self.issued(names, |_| {}).map_err(failed)
    }

    /// The same, but it expired years ago.
    pub fn issue_expired(&self, names: &[&str]) -> Result<Issued, Trouble> {
        let expired = |params: &mut CertificateParams| {
            params.not_after = rcgen::date_time_ymd(2020, 1, 1);
        };
        self.issued(names, expired).map_err(failed)
    }

    fn made() -> Result<Self, rcgen::Error> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new([])?;
        // One name with two keys would make a forgery of each other's certificates, where a stranger is meant.
        let number: String = key.der_bytes()[1..5]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        params.distinguished_name = called(&format!("authority {number}"));
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Ok(Self {
            certificate: params.self_signed(&key)?.pem(),
            issuer: Issuer::new(params, key),
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
        change(&mut params);
        Ok(Issued {
            certificate: params.signed_by(&key, &self.issuer)?.pem(),
            key: key.serialize_pem(),
        })
    }
}

fn called(name: &str) -> DistinguishedName {
    let mut called = DistinguishedName::new();
    called.push(DnType::CommonName, name);
    called
}

fn failed(error: rcgen::Error) -> Trouble {
    Trouble::Measured(format!("making a certificate: {error}"))
}
