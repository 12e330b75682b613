//! Who may use the admin API: `Host` must be a name of this machine's loopback or the bound address, a foreign `Origin` is refused,
//! and off loopback credentials are wanted unless it was opened on purpose.
//!
//! The first two keep web pages from driving a mock through a browser, by rebinding a name or across origins.

use super::error::AdminError;
use crate::admin::cors;
use crate::config::{AdminAccess, MockConfig};
use crate::error::MockError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use plimsoll_http::RequestHead;
use plimsoll_http::authority::{address_of, names_loopback};
use plimsoll_wiremock::request::Scheme;
use std::net::IpAddr;

/// The check that every admin request passes first.
#[derive(Debug)]
pub(crate) struct Guard {
    bound: IpAddr,
    access: Access,
    requires_https: bool,
    /// Whose pages may call, beside the server's own.
    origins: Vec<String>,
}

#[derive(Debug)]
enum Access {
    /// By a known `Host`.
    KnownHost,
    /// By this value of `Authorization`.
    Authorization(String),
    Anyone,
}

impl Guard {
    /// The guard for a mock bound to `bound`.
    pub(crate) fn new(config: &MockConfig, bound: IpAddr) -> Result<Self, MockError> {
        let access = match &config.admin {
            AdminAccess::Loopback if !bound.is_loopback() => {
                return Err(MockError::Config(format!(
                    "listening on {bound} would expose the admin API to the network: set `--admin-api-basic-auth USER:PASSWORD`, or allow it with `--admin-open`"
                )));
            }
            AdminAccess::Loopback => Access::KnownHost,
            AdminAccess::Credentials(credentials) => {
                Access::Authorization(format!("Basic {}", BASE64.encode(credentials.pair())))
            }
            AdminAccess::Open => Access::Anyone,
        };
        Ok(Self {
            bound,
            access,
            requires_https: config.admin_requires_https,
            origins: config.admin_origins.clone(),
        })
    }

    /// Lets a request pass or says why not.
    pub(crate) fn check(&self, head: &RequestHead, scheme: Scheme) -> Result<(), AdminError> {
        if self.requires_https && scheme != Scheme::Https {
            return Err(AdminError::forbidden(
                "HTTPS is required for accessing the admin API",
            ));
        }
        self.check_origin(head)?;
        match &self.access {
            Access::Anyone => Ok(()),
            Access::KnownHost if self.knows(head.authority()) => Ok(()),
            Access::KnownHost => Err(AdminError::forbidden(
                "Host is not a name of the loopback interface",
            )),
            Access::Authorization(expected) => {
                let given = head.fields().get("Authorization").unwrap_or(b"");
                if same(given, expected.as_bytes()) {
                    Ok(())
                } else {
                    Err(AdminError::unauthorised())
                }
            }
        }
    }

    /// The origin of a request that is another server's and may call.
    pub(crate) fn shared_with<'a>(&self, head: &'a RequestHead) -> Option<&'a str> {
        let origin = cors::origin(head)?;
        self.origins
            .iter()
            .any(|own| own == origin)
            .then_some(origin)
    }

    /// A page may call only the server that it came from, or one that was told of its own.
    fn check_origin(&self, head: &RequestHead) -> Result<(), AdminError> {
        let known = |origin: &[u8]| {
            let host = origin.split(|byte| *byte == b'/').nth(2).unwrap_or(b"");
            host.eq_ignore_ascii_case(head.authority().as_bytes())
                || self.origins.iter().any(|own| own.as_bytes() == origin)
        };
        if head.fields().get_all("Origin").all(known) {
            Ok(())
        } else {
            Err(AdminError::forbidden("Origin is not this server"))
        }
    }

    fn knows(&self, authority: &str) -> bool {
        names_loopback(authority) || address_of(authority) == Some(self.bound)
    }
}

/// Equality in a time that does not depend on where the difference is.
fn same(given: &[u8], expected: &[u8]) -> bool {
    let difference = given
        .iter()
        .zip(expected)
        .fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == expected.len() && difference == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(bound: &str) -> Guard {
        Guard {
            bound: bound.parse().unwrap(),
            access: Access::KnownHost,
            requires_https: false,
            origins: Vec::new(),
        }
    }

    #[test]
    fn only_names_of_loopback_and_the_bound_address_are_known() {
        let check = |bound: &str, authority: &str, expected: bool| {
            assert_eq!(guard(bound).knows(authority), expected, "{authority}");
        };
        check("127.0.0.1", "localhost:8080", true);
        check("192.0.2.1", "localhost:8080", true);
        check("192.0.2.1", "192.0.2.1:80", true);
        check("127.0.0.1", "192.0.2.1:80", false);
        check("127.0.0.1", "evil.example:8080", false);
    }

    #[test]
    fn equality_wants_every_byte() {
        assert!(same(b"abc", b"abc"));
        assert!(!same(b"ab", b"abc") && !same(b"abd", b"abc") && !same(b"", b"a"));
    }
}
