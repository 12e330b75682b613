//! TLS to the targets of APIs, as Tyk has it: by the authorities of the host, for each target's own host, whatever `Host` is forwarded.

use super::super::definition::{Proxy, Transport};
use super::super::tls::{TlsWords, version};
use super::{Check, target};
use crate::config::EndpointConfig;
use crate::config::UpstreamTls;
use plimsoll_base::digest::Digest;
use plimsoll_base::document::Path;
use plimsoll_http::tls::{ClientTls, TlsError, TlsSettings, TlsVersion, Trust};

/// TLS of connections to the targets of all APIs: of those with the same terms, the authorities are read once.
pub(super) struct Securing {
    words: TlsWords,
    /// Protocols offered by ALPN. Tyk offers none, unless it offers HTTP/2.
    alpn: &'static [&'static [u8]],
    made: Vec<(Terms, ClientTls)>,
}

/// By what TLS to one API's targets is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Terms {
    insecure: bool,
    oldest: TlsVersion,
    newest: TlsVersion,
}

impl Securing {
    /// With what `tyk.conf` says, and whether HTTP/2 is offered.
    pub(super) fn new(words: TlsWords, offers_http2: bool) -> Self {
        Self {
            words,
            alpn: match offers_http2 {
                true => &[b"h2", b"http/1.1"],
                false => &[],
            },
            made: Vec::new(),
        }
    }

    /// TLS of connections to these endpoints; none in plaintext, or after a problem.
    pub(super) fn upstream_tls(
        &mut self,
        c: &mut Check<'_>,
        proxy: &Proxy,
        endpoints: &[EndpointConfig],
    ) -> Option<UpstreamTls> {
        let terms = self.terms(c, proxy.transport.as_ref())?;
        let first = endpoints.first()?;
        if !first.secured {
            return None;
        }
        let made = self.client(terms, first).and_then(|client| {
            let named = endpoints
                .iter()
                .map(|endpoint| client.named(endpoint.name()));
            named.collect::<Result<Vec<_>, _>>()
        });
        match made {
            Ok(endpoints) => Some(UpstreamTls {
                endpoints,
                identity: None,
                insecure: terms.insecure,
                digest: Digest::of(format!("{terms:?} {:?}", self.alpn).as_bytes()),
            }),
            Err(error) => {
                let message = match error {
                    TlsError::NoStore => "this host has no store of authorities to verify `https` by: install one (`ca-certificates`), or name one by `SSL_CERT_FILE`".to_owned(),
                    error => error.to_string(),
                };
                c.refuse(target::place(proxy), message);
                None
            }
        }
    }

    fn terms(&self, c: &mut Check<'_>, transport: Option<&Transport>) -> Option<Terms> {
        let at = Path::root().key("proxy").key("transport");
        let mut read = |name: &str, number: Option<u16>| {
            let version = version(number);
            version.map_err(|message| c.refuse(at.key(name), message))
        };
        let own = |of: fn(&Transport) -> Option<u16>| transport.and_then(of);
        let oldest = read("ssl_min_version", own(|said| said.ssl_min_version));
        let newest = read("ssl_max_version", own(|said| said.ssl_max_version));
        let (oldest, newest) = (oldest.ok()?, newest.ok()?);
        let skips = transport.and_then(|said| said.ssl_insecure_skip_verify);
        let terms = Terms {
            insecure: self.words.insecure || skips.unwrap_or(false),
            oldest: oldest.or(self.words.oldest).unwrap_or(TlsVersion::Tls12),
            newest: newest.or(self.words.newest).unwrap_or(TlsVersion::Tls13),
        };
        if terms.oldest > terms.newest {
            let message = "no version is left between the oldest and the newest of this API, or those of `tyk.conf`: write `772` as the newest, or `771` as the oldest";
            c.refuse(at, message);
            return None;
        }
        Some(terms)
    }

    fn client(&mut self, terms: Terms, first: &EndpointConfig) -> Result<ClientTls, TlsError> {
        if let Some((_, made)) = self.made.iter().find(|(known, _)| *known == terms) {
            return Ok(made.clone());
        }
        let made = ClientTls::new(TlsSettings {
            server_name: first.name(),
            trust: match terms.insecure {
                true => Trust::Anybody,
                false => Trust::System,
            },
            oldest: terms.oldest,
            newest: terms.newest,
            alpn: self.alpn,
            resumption: true,
        })?;
        self.made.push((terms, made.clone()));
        Ok(made)
    }
}
