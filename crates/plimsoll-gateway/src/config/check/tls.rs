//! TLS of a listener: its own certificate, and whose clients it serves.

use super::super::ListenerTls;
use super::super::wire::{ClientsWord, ListenerTlsBlock};
use super::Checker;
use crate::clients::certificate::Number;
use crate::clients::trust::Trust;
use plimsoll_base::digest::Digest;
use plimsoll_base::document::Path;
use plimsoll_http::tls::{
    CertificateDer, Clientele, Clients, Demand, Identity, ServerSettings, ServerTls, TlsError,
    certificates, revocation_lists,
};
use std::collections::HashSet;
use std::sync::Arc;
use x509_parser::prelude::{CertificateRevocationList, FromDer as _, X509Certificate};
use x509_parser::time::ASN1Time;

/// TLS of a block; none where that cannot be said.
pub(super) fn tls(
    c: &mut Checker<'_>,
    at: &Path,
    block: &ListenerTlsBlock,
    alpn: &[&[u8]],
) -> Option<ListenerTls> {
    let identity = identity(c, at, &block.certificate, &block.key).map(|(identity, _)| identity);
    let demand = match block.clients {
        ClientsWord::None => None,
        ClientsWord::Optional => Some(Demand::Optional),
        ClientsWord::Required => Some(Demand::Required),
    };
    let trust = match (demand, &block.ca) {
        (None, None) if block.crl.is_none() => None,
        (None, _) => {
            let message = "no client is asked for a certificate: write `clients: required` or `clients: optional`, or remove this";
            c.refuse(
                at.key(if block.ca.is_some() { "ca" } else { "crl" }),
                message,
            );
            return None;
        }
        (Some(_), None) => {
            let message = "clients' certificates need an authority: write `ca` with the file of its certificate";
            c.refuse(at.key("clients"), message);
            return None;
        }
        (Some(demand), Some(ca)) => Some(Arc::new(trust(c, at, ca, block, demand)?)),
    };
    let identity = identity?;
    let tls = ServerTls::new(ServerSettings {
        identity: &identity,
        clients: match &trust {
            None => Clients::Anybody,
            Some(trust) => Clients::Certified(&trust.clientele),
        },
        alpn,
    });
    match tls {
        Ok(tls) => Some(ListenerTls { tls, trust }),
        Err(error) => {
            c.refuse(at, error.to_string());
            None
        }
    }
}

/// A certificate with its key, and the digest of both.
pub(super) fn identity(
    c: &mut Checker<'_>,
    at: &Path,
    certificate: &str,
    key: &str,
) -> Option<(Identity, Digest)> {
    let text = c.read_text(&at.key("certificate"), certificate);
    let key_text = c.read_text(&at.key("key"), key);
    let (text, key_text) = (text?, key_text?);
    match Identity::from_pem(&text, &key_text) {
        Err(error @ (TlsError::NoKey | TlsError::Key(_) | TlsError::Mismatch)) => {
            c.refuse(at.key("key"), format!("`{key}` {error}"));
            None
        }
        Err(error) => {
            c.refuse(at.key("certificate"), format!("`{certificate}` {error}"));
            None
        }
        Ok(identity) => {
            let own = certificates(&text)
                .ok()
                .and_then(|chain| chain.into_iter().next());
            if let Some(own) = own {
                refuse_expired(c, &at.key("certificate"), certificate, &own);
            }
            let digest = Digest::of(format!("{text}{key_text}").as_bytes());
            Some((identity, digest))
        }
    }
}

/// Refuses a certificate of this file if it has expired.
pub(super) fn refuse_expired(
    c: &mut Checker<'_>,
    at: &Path,
    file: &str,
    certificate: &CertificateDer<'_>,
) {
    let Ok((_, read)) = X509Certificate::from_der(certificate) else {
        return c.refuse(
            at,
            format!("`{file}` holds a certificate that cannot be read"),
        );
    };
    let end = read.validity().not_after;
    if c.is_past(end) {
        let message = format!(
            "`{file}`: the certificate of `{}` expired on {}: renew it",
            read.subject(),
            day(end)
        );
        c.refuse(at, message);
    }
}

fn trust(
    c: &mut Checker<'_>,
    at: &Path,
    ca: &str,
    block: &ListenerTlsBlock,
    demand: Demand,
) -> Option<Trust> {
    let ca_at = at.key("ca");
    let text = c.read_text(&ca_at, ca)?;
    let authorities = match certificates(&text) {
        Ok(authorities) => authorities,
        Err(error) => {
            c.refuse(ca_at, format!("`{ca}` {error}"));
            return None;
        }
    };
    let mut read = Vec::new();
    for authority in &authorities {
        refuse_expired(c, &ca_at, ca, authority);
        read.extend(X509Certificate::from_der(authority).map(|(_, read)| read));
    }
    let files = block.crl.as_ref().map_or(&[][..], |files| &files.0);
    let mut revocations = Revocations::default();
    for (index, file) in files.iter().enumerate() {
        let at = match files.len() {
            1 => at.key("crl"),
            _ => at.key("crl").index(index),
        };
        revocations.add(c, &at, file, &read);
    }
    if !files.is_empty() {
        for authority in &read {
            if !revocations.issuers.contains(authority.subject().as_raw()) {
                let message = format!(
                    "none of these is from `{}`: its clients could not be judged and would all be refused",
                    authority.subject()
                );
                c.refuse(at.key("crl"), message);
            }
        }
    }
    let everything = [
        text.as_bytes(),
        &revocations.bytes,
        format!("{demand:?}").as_bytes(),
    ]
    .concat();
    match Clientele::new(&text, revocations.lists, demand) {
        Ok(clientele) => Some(Trust {
            required: demand == Demand::Required,
            clientele,
            revoked: revocations.revoked,
            authorities: Digest::of(text.as_bytes()),
            everything: Digest::of(&everything),
            lists_end: revocations.end,
        }),
        Err(error) => {
            c.refuse(at.key("crl"), format!("cannot be used: {error}"));
            None
        }
    }
}

/// Lists of revoked certificates, together.
#[derive(Default)]
struct Revocations {
    lists: Vec<plimsoll_http::tls::CertificateRevocationListDer<'static>>,
    revoked: HashSet<Number>,
    /// Who has issued lists, as encoded.
    issuers: HashSet<Vec<u8>>,
    /// All of them, one behind the other.
    bytes: Vec<u8>,
    /// When the first of them expires, in seconds since 1970.
    end: Option<i64>,
}

impl Revocations {
    fn add(
        &mut self,
        c: &mut Checker<'_>,
        at: &Path,
        file: &str,
        authorities: &[X509Certificate<'_>],
    ) {
        let Some(bytes) = c.read(at, file) else {
            return;
        };
        let lists = match revocation_lists(&bytes) {
            Ok(lists) => lists,
            Err(error) => return c.refuse(at, format!("`{file}` {error}")),
        };
        self.bytes.extend_from_slice(&bytes);
        for list in &lists {
            match CertificateRevocationList::from_der(list.as_ref()) {
                Ok((_, read)) => self.add_list(c, at, file, &read, authorities),
                Err(_) => c.refuse(at, format!("`{file}` holds a list that cannot be read")),
            }
        }
        self.lists.extend(lists);
    }

    fn add_list(
        &mut self,
        c: &mut Checker<'_>,
        at: &Path,
        file: &str,
        list: &CertificateRevocationList<'_>,
        authorities: &[X509Certificate<'_>],
    ) {
        let issuer = list.issuer();
        let end = list.next_update().map(|end| end.timestamp());
        self.end = self.end.into_iter().chain(end).min();
        match list.next_update() {
            Some(end) if c.is_past(end) => {
                let message = format!(
                    "`{file}`: the list of `{issuer}` expired on {}: fetch a new one",
                    day(end)
                );
                c.refuse(at, message);
            }
            _ => {}
        }
        let mut signers = authorities
            .iter()
            .filter(|authority| authority.subject().as_raw() == issuer.as_raw())
            .peekable();
        let unknown = signers.peek().is_none();
        if !unknown && !signers.any(|signer| list.verify_signature(signer.public_key()).is_ok()) {
            c.refuse(
                at,
                format!("`{file}`: the list of `{issuer}` is not signed by it"),
            );
        }
        self.issuers.insert(issuer.as_raw().to_vec());
        for revoked in list.iter_revoked_certificates() {
            self.revoked.insert(Number {
                issuer: issuer.as_raw().into(),
                serial: revoked.raw_serial().into(),
            });
        }
    }
}

/// The day of a moment, `2026-11-22`.
fn day(time: ASN1Time) -> String {
    let moment = jiff::Timestamp::from_second(time.timestamp()).unwrap_or(jiff::Timestamp::MAX);
    moment.strftime("%Y-%m-%d").to_string()
}
