//! How connections to an upstream's endpoints are secured, made from one reading of the configuration.

use plimsoll_base::digest::Digest;
use plimsoll_http::tls::{ClientTls, Connector, Identity};

/// TLS to the endpoints of an upstream, ready. Two of the same digest are the same.
#[derive(Debug, Clone)]
pub(crate) struct UpstreamTls {
    /// By endpoint, for each has a name of its own.
    pub(crate) endpoints: Vec<ClientTls>,
    /// Identity shown to endpoints that ask for a certificate.
    pub(crate) identity: Option<Identity>,
    /// Anybody who answers is believed.
    pub(crate) insecure: bool,
    /// Of everything that it was made from; the host's own authorities, where they are what is trusted, have no part in it.
    pub(crate) digest: Digest,
}

impl UpstreamTls {
    /// Connector to this endpoint. Its sessions are its own.
    pub(crate) fn connector(&self, endpoint: usize) -> Connector {
        self.endpoints[endpoint].connector(self.identity.as_ref())
    }
}

impl PartialEq for UpstreamTls {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}
