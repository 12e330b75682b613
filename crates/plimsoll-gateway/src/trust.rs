//! Whose certificates a listener accepts, for connections that are open already: TLS judges a client once, when it connects.
//!
//! Revocation is a look-up by issuer and number, so that ten thousand connections are judged in a moment; only other authorities make it
//! necessary to verify signatures again. How lists and authorities are read, and what is wrong with them, is decided in
//! [`crate::config`].

use crate::certificate::{Certificate, Number};
use crate::policy::key::Digest;
use plimsoll_http::tls::{CertificateDer, Clientele, UnixTime};
use std::collections::HashSet;
use std::time::Duration;

/// What judges the certificates of one listener's clients.
#[derive(Debug)]
pub(crate) struct Trust {
    /// Who has no certificate is not accepted.
    pub(crate) required: bool,
    pub(crate) clientele: Clientele,
    /// Certificates that their issuers have revoked.
    pub(crate) revoked: HashSet<Number>,
    /// Of the authorities' certificates.
    pub(crate) authorities: Digest,
    /// Of everything that decides who is accepted.
    pub(crate) everything: Digest,
}

/// A certificate chain that a client has shown.
#[derive(Debug)]
pub(crate) struct Shown {
    /// The client's own first.
    pub(crate) chain: Vec<CertificateDer<'static>>,
    /// How each of them is called in lists of revoked ones.
    pub(crate) numbers: Vec<Number>,
    /// The last second in which the client's own is valid, since 1970.
    pub(crate) not_after: i64,
}

/// Why a certificate that was accepted is not any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Withdrawn {
    Revoked,
    Distrusted,
    Expired,
}

impl Shown {
    /// What a client has shown; `None` if that is nothing, or cannot be read whole. TLS has read the client's own certificate and
    /// those that lead to an authority, and passes over others.
    pub(crate) fn of(chain: Vec<CertificateDer<'static>>) -> Option<Self> {
        let read: Result<Vec<_>, _> = chain.iter().map(|c| Certificate::read_number(c)).collect();
        let read = read.ok()?;
        Some(Self {
            not_after: read.first()?.1,
            numbers: read.into_iter().map(|(number, _)| number).collect(),
            chain,
        })
    }

    /// Whether it has expired at this time since 1970.
    pub(crate) fn has_expired(&self, now: Duration) -> bool {
        i64::try_from(now.as_secs()).is_ok_and(|now| now > self.not_after)
    }
}

impl Trust {
    /// Judges what was accepted by `before`, at this time since 1970.
    pub(crate) fn review(
        &self,
        shown: &Shown,
        before: Option<&Self>,
        now: Duration,
    ) -> Result<(), Withdrawn> {
        if shown.has_expired(now) {
            return Err(Withdrawn::Expired);
        }
        if before.is_some_and(|before| before.everything == self.everything) {
            return Ok(());
        }
        if shown
            .numbers
            .iter()
            .any(|number| self.revoked.contains(number))
        {
            return Err(Withdrawn::Revoked);
        }
        if before.is_some_and(|before| before.authorities == self.authorities) {
            return Ok(());
        }
        let now = UnixTime::since_unix_epoch(now);
        self.clientele
            .judge(&shown.chain, now)
            .map_err(|_| Withdrawn::Distrusted)
    }
}
