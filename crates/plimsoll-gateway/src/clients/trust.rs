//! Whose certificates a listener accepts, for connections that are open already: TLS judges a client once, when it connects.
//!
//! Revocation is a look-up by issuer and number, so that ten thousand connections are judged in a moment; only other authorities make it
//! necessary to verify signatures again. How lists and authorities are read, and what is wrong with them, is decided in
//! [`crate::config`].

use crate::clients::certificate::{Certificate, Number};
use plimsoll_base::digest::Digest;
use plimsoll_http::tls::{CertificateDer, Clientele, UnixTime};
use plimsoll_records::Ending;
use std::collections::HashSet;
use std::time::Duration;

/// Trust in the certificates of one listener's clients.
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
    /// The second since 1970 from which one of the lists of revoked ones says nothing any more, if there are any.
    pub(crate) lists_end: Option<i64>,
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
    /// Certificates that a client has shown; `None` if there are none, or they cannot be read whole. TLS has read the client's own certificate and
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
    /// Judges what was accepted by `before`, at this time since 1970. Once a list of revoked ones has expired TLS accepts nobody by it, so
    /// who resumes a session is judged as whoever comes anew.
    pub(crate) fn review(
        &self,
        shown: &Shown,
        before: Option<&Self>,
        now: Duration,
    ) -> Result<(), Withdrawn> {
        if shown.has_expired(now) {
            return Err(Withdrawn::Expired);
        }
        let current = !self.a_list_has_expired(now);
        if current && before.is_some_and(|before| before.everything == self.everything) {
            return Ok(());
        }
        if shown
            .numbers
            .iter()
            .any(|number| self.revoked.contains(number))
        {
            return Err(Withdrawn::Revoked);
        }
        if current && before.is_some_and(|before| before.authorities == self.authorities) {
            return Ok(());
        }
        let now = UnixTime::since_unix_epoch(now);
        self.clientele
            .judge(&shown.chain, now)
            .map_err(|_| Withdrawn::Distrusted)
    }

    fn a_list_has_expired(&self, now: Duration) -> bool {
        let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        self.lists_end.is_some_and(|end| now >= end)
    }
}

impl From<Withdrawn> for Ending {
    fn from(why: Withdrawn) -> Self {
        match why {
            Withdrawn::Revoked => Ending::Revoked,
            Withdrawn::Distrusted => Ending::Distrusted,
            Withdrawn::Expired => Ending::Expired,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{GatewayConfig, Surroundings};
    use plimsoll_http::tls::certificates;
    use plimsoll_testbed::authority::{Authority, Issued};
    use std::collections::HashMap;
    use std::io;
    use std::sync::Arc;

    /// The first second of 2050.
    const END: u64 = 2_524_608_000;

    /// Trust in clients of these authorities, of which the first's list ends with 2049 and the second's much later.
    fn trust([first, second]: &[Authority; 2]) -> Arc<Trust> {
        let own = first.issue(&["localhost"]).unwrap();
        let authorities = [first.certificate(), second.certificate()].concat();
        let files = HashMap::from([
            ("own.pem", own.certificate),
            ("own.key", own.key),
            ("ca.pem", authorities),
            ("first.crl", first.revoked(&[], 2050).unwrap()),
            ("second.crl", second.revoked(&[], 2099).unwrap()),
        ]);
        let text = "version: 1\nlisteners: { main: { address: ':0', tls: { certificate: own.pem, key: own.key, clients: required, ca: ca.pem, crl: [second.crl, first.crl] } } }\nupstreams: { a: { endpoints: ['http://127.0.0.1:1'] } }\nroutes: [{ path: /, upstream: a }]\n";
        let around = Surroundings {
            files: &|name| {
                let text = files.get(name).ok_or(io::ErrorKind::NotFound)?;
                Ok(text.clone().into_bytes())
            },
            variables: &|_| None,
            now: Duration::from_secs(1_800_000_000),
        };
        let config = GatewayConfig::read("gateway.yaml", text, around).unwrap();
        let tls = config.listeners[0].tls.as_ref().unwrap();
        tls.trust.clone().unwrap()
    }

    fn shown(issued: &Issued) -> Shown {
        Shown::of(certificates(&issued.certificate).unwrap()).unwrap()
    }

    #[test]
    fn who_resumes_a_session_is_judged_anew_once_a_list_has_expired() {
        let authorities = [(); 2].map(|()| Authority::new().unwrap());
        let trust = trust(&authorities);
        let [first, second] = authorities.map(|a| shown(&a.issue(&["client"]).unwrap()));
        let judged = |shown: &Shown, now: u64| {
            let now = Duration::from_secs(now);
            trust.review(shown, Some(&trust), now)
        };
        assert_eq!(judged(&first, END - 1), Ok(()));
        assert_eq!(judged(&first, END), Err(Withdrawn::Distrusted));
        // The list of its own authority goes on.
        assert_eq!(judged(&second, END), Ok(()));
    }
}
