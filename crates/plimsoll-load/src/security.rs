//! TLS of a plan at run time, built once before the load starts: reading certificates and keys takes too long for a shard at work.

use crate::plan::{Connections, Protocol, Tls, TlsVersion, Trust};
use plimsoll_http::tls::{self, ClientTls, Connector, Identity, TlsError, TlsSettings};

/// The name of HTTP/2 in ALPN (RFC 9113, section 3.1).
pub(crate) const H2: &str = "h2";
/// The name of HTTP/1.1 in ALPN (RFC 7301, section 6).
const HTTP_1_1: &str = "http/1.1";

/// Who secures whose connections.
#[derive(Debug)]
pub(crate) struct Security {
    /// By number of the virtual user, each with its own sessions; empty if connections are clear.
    connectors: Vec<Connector>,
}

/// Which part of a plan's TLS cannot be used, and why.
#[derive(Debug)]
pub(crate) enum SecurityProblem {
    /// A problem of all connections.
    Common(TlsError),
    /// The identity at this place.
    Identity(usize, TlsError),
}

impl Security {
    /// Builds what so many users need.
    ///
    /// # Errors
    /// Every [`SecurityProblem`]; never an empty list.
    pub(crate) fn new(plan: &Connections, users: u32) -> Result<Self, Vec<SecurityProblem>> {
        let Some(settings) = &plan.tls else {
            return Ok(Self { connectors: vec![] });
        };
        let mut problems = vec![];
        let mut identities = vec![];
        for (place, identity) in settings.identities.iter().enumerate() {
            match Identity::from_pem(&identity.certificate, &identity.key.0) {
                Ok(identity) => identities.push(identity),
                Err(error) => problems.push(SecurityProblem::Identity(place, error)),
            }
        }
        let common = client(settings, plan.protocol);
        let Ok(common) = common.map_err(|error| problems.insert(0, SecurityProblem::Common(error)))
        else {
            return Err(problems);
        };
        if !problems.is_empty() {
            return Err(problems);
        }
        let connector = |user: usize| {
            let of_user = match identities.as_slice() {
                [one] => Some(one),
                each => each.get(user),
            };
            common.connector(of_user)
        };
        let users = usize::try_from(users).unwrap_or(usize::MAX);
        Ok(Self {
            connectors: (0..users).map(connector).collect(),
        })
    }

    /// Who secures the connections of the user with this number; `None` if they are clear.
    pub(crate) fn connector(&self, user: usize) -> Option<Connector> {
        self.connectors.get(user).cloned()
    }
}

fn client(settings: &Tls, protocol: Protocol) -> Result<ClientTls, TlsError> {
    let version = |version| match version {
        TlsVersion::Tls12 => tls::TlsVersion::Tls12,
        TlsVersion::Tls13 => tls::TlsVersion::Tls13,
    };
    let offered: Vec<&[u8]> = match (&settings.alpn, protocol) {
        (Some(names), _) => names.iter().map(String::as_bytes).collect(),
        (None, Protocol::Http1) => vec![HTTP_1_1.as_bytes()],
        (None, Protocol::Http2 { .. }) => vec![H2.as_bytes()],
    };
    ClientTls::new(TlsSettings {
        server_name: &settings.server_name,
        trust: match &settings.trust {
            Trust::System => tls::Trust::System,
            Trust::Authorities(pem) => tls::Trust::Authorities(pem),
            Trust::Anybody => tls::Trust::Anybody,
        },
        oldest: version(settings.oldest),
        newest: version(settings.newest),
        alpn: &offered,
        resumption: settings.resumption,
    })
}
