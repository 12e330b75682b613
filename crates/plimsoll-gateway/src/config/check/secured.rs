//! TLS of an upstream: whom its endpoints' certificates must come from, and what the gateway shows them.

use super::super::EndpointConfig;
use super::super::wire::upstreams::{UpstreamBlock, UpstreamTlsBlock};
use super::{Checker, tls};
use crate::config::UpstreamTls;
use plimsoll_base::digest::Digest;
use plimsoll_base::document::Path;
use plimsoll_http::tls::{
    ClientTls, Identity, TlsError, TlsSettings, TlsVersion, Trust, certificates,
};

/// TLS of connections to these endpoints; none in plaintext, or where it cannot be said.
pub(super) fn upstream_tls(
    c: &mut Checker<'_>,
    at: &Path,
    block: &UpstreamBlock,
    endpoints: &[EndpointConfig],
) -> Option<UpstreamTls> {
    let first = endpoints.first()?;
    if endpoints.iter().any(|other| other.secured != first.secured) {
        let message = "some of these are spoken to over TLS and some in plaintext: make two upstreams of them";
        c.refuse(at.key("endpoints"), message);
        return None;
    }
    let at = at.key("tls");
    match (first.secured, &block.tls) {
        (false, None) => None,
        (false, Some(_)) => {
            let message =
                "its endpoints are spoken to in plaintext: write `https://…` there, or remove this";
            c.refuse(at, message);
            None
        }
        (true, written) => {
            let default = UpstreamTlsBlock::default();
            secured(
                c,
                &at,
                written.as_ref().unwrap_or(&default),
                block.http2,
                endpoints,
            )
        }
    }
}

fn secured(
    c: &mut Checker<'_>,
    at: &Path,
    block: &UpstreamTlsBlock,
    http2: bool,
    endpoints: &[EndpointConfig],
) -> Option<UpstreamTls> {
    let authorities = authorities(c, at, block)?;
    let shown = shown(c, at, block)?;
    let alpn: &[&[u8]] = if http2 { &[b"h2"] } else { &[b"http/1.1"] };
    let name = |endpoint: &EndpointConfig| {
        let own = || endpoint.name().to_owned();
        block.server_name.clone().unwrap_or_else(own)
    };
    let made = ClientTls::new(TlsSettings {
        server_name: &name(endpoints.first()?),
        trust: match (block.insecure, &authorities) {
            (true, _) => Trust::Anybody,
            (false, Some(pem)) => Trust::Authorities(pem),
            (false, None) => Trust::System,
        },
        oldest: TlsVersion::Tls12,
        newest: TlsVersion::Tls13,
        alpn,
        resumption: true,
    });
    let made = made.and_then(|first| {
        let named = endpoints
            .iter()
            .map(|endpoint| first.named(&name(endpoint)));
        named.collect::<Result<Vec<_>, _>>()
    });
    let digest = digest(block, authorities.as_deref(), &shown, alpn);
    match made {
        Ok(endpoints) => Some(UpstreamTls {
            endpoints,
            identity: shown.map(|shown| shown.identity),
            insecure: block.insecure,
            digest,
        }),
        Err(error) => {
            let place = match &error {
                TlsError::Name(_) => "server_name",
                _ => "ca",
            };
            c.refuse(at.key(place), error.to_string());
            None
        }
    }
}

/// Whom certificates must come from, as PEM text: nothing if that is whom the host trusts, or anybody. Nothing at all after a problem.
fn authorities(c: &mut Checker<'_>, at: &Path, block: &UpstreamTlsBlock) -> Option<Option<String>> {
    let Some(file) = &block.ca else {
        return Some(None);
    };
    let at = at.key("ca");
    if block.insecure {
        let message =
            "`insecure` accepts any certificate, so this would say nothing: remove one of the two";
        c.refuse(at, message);
        return None;
    }
    let text = c.read_text(&at, file)?;
    match certificates(&text) {
        Ok(authorities) => {
            for authority in &authorities {
                tls::refuse_expired(c, &at, file, authority);
            }
            Some(Some(text))
        }
        Err(error) => {
            c.refuse(at, format!("`{file}` {error}"));
            None
        }
    }
}

/// Certificate that the gateway shows to servers that ask for one.
struct ToShow {
    identity: Identity,
    /// Of certificate and key.
    digest: Digest,
}

fn shown(c: &mut Checker<'_>, at: &Path, block: &UpstreamTlsBlock) -> Option<Option<ToShow>> {
    match (&block.certificate, &block.key) {
        (None, None) => Some(None),
        (Some(certificate), Some(key)) => {
            let (identity, digest) = tls::identity(c, at, certificate, key)?;
            Some(Some(ToShow { identity, digest }))
        }
        (Some(_), None) => {
            let message = "a certificate is of no use without its key: write `key` with its file";
            c.refuse(at.key("certificate"), message);
            None
        }
        (None, Some(_)) => {
            let message =
                "a key is of no use without its certificate: write `certificate` with its file";
            c.refuse(at.key("key"), message);
            None
        }
    }
}

fn digest(
    block: &UpstreamTlsBlock,
    authorities: Option<&str>,
    shown: &Option<ToShow>,
    alpn: &[&[u8]],
) -> Digest {
    let shown = shown.as_ref().map(|shown| shown.digest.to_hex());
    let parts = (&block.server_name, block.insecure, authorities, shown, alpn);
    Digest::of(format!("{parts:?}").as_bytes())
}
