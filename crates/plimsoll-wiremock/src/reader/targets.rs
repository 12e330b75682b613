//! Hosts that a mock may send requests to: the lists of `--allow-proxy-targets` and `--deny-proxy-targets`.
//!
//! WireMock's forms (addresses, ranges of them, names with `*`), each with a port if one is to count. Unlike in WireMock nothing is
//! allowed that is not named, and a name is judged with what it resolves to: an address that is denied stays denied behind any name, and
//! a name alone never leads to this machine or its link, where names of others have no business (DNS rebinding).

use plimsoll_http::Url;
use plimsoll_http::decode::is_token;
use std::net::{IpAddr, SocketAddr};

/// Hosts that requests may be sent to. By default there are none.
#[derive(Debug, Clone, Default)]
pub struct Targets {
    allowed: Vec<Rule>,
    denied: Vec<Rule>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    hosts: Hosts,
    /// Any port without one.
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Hosts {
    All,
    /// From one to the other, both included.
    Addresses(IpAddr, IpAddr),
    /// A name in lower case, in which `*` stands for any text that is not empty.
    Named(String),
}

impl Targets {
    /// Reads what is allowed and what of that is denied.
    ///
    /// # Errors
    /// The entry of a list that is no host, and what to write instead.
    pub fn new<S: AsRef<str>>(allowed: &[S], denied: &[S]) -> Result<Self, String> {
        let read = |list: &[S]| {
            let rules = list.iter().map(|text| Rule::read(text.as_ref().trim()));
            rules.collect::<Result<Vec<Rule>, String>>()
        };
        Ok(Self {
            allowed: read(allowed)?,
            denied: read(denied)?,
        })
    }

    /// Whether nothing is allowed at all.
    pub fn are_none(&self) -> bool {
        self.allowed.is_empty()
    }

    /// Whether any address of this host may be allowed: what can be said before the name is looked up.
    pub fn may_allow(&self, host: &str, port: u16) -> bool {
        if let Ok(address) = host.parse() {
            return self.allow(host, SocketAddr::new(address, port));
        }
        let by_address = |rule: &&Rule| matches!(rule.hosts, Hosts::Addresses(..));
        let mut allowing = self.allowed.iter().filter(|rule| rule.has_port(port));
        let allowed = allowing.any(|rule| by_address(&rule) || rule.names(host));
        allowed && !self.deny(host, None, port)
    }

    /// Whether a request to this host may go to this address.
    pub fn allow(&self, host: &str, address: SocketAddr) -> bool {
        let (ip, port) = (address.ip().to_canonical(), address.port());
        if self.deny(host, Some(ip), port) {
            return false;
        }
        let is_literal = host.parse::<IpAddr>().is_ok();
        let named = |rule: &Rule| !is_literal && rule.names(host);
        let may_be_here = !is_near(ip) || host.eq_ignore_ascii_case("localhost");
        let mut allowing = self.allowed.iter().filter(|rule| rule.has_port(port));
        allowing.any(|rule| rule.holds(ip) || (named(rule) && may_be_here))
    }

    fn deny(&self, host: &str, ip: Option<IpAddr>, port: u16) -> bool {
        let mut denying = self.denied.iter().filter(|rule| rule.has_port(port));
        denying.any(|rule| rule.names(host) || ip.is_some_and(|ip| rule.holds(ip)))
    }
}

impl Rule {
    fn read(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is no host: write a name (`*` stands for a part of it), an address or a range `10.0.0.1-10.0.0.9`, and a port if one is to count, `localhost:8080`"
            )
        };
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self {
                hosts: Hosts::one(address),
                port: None,
            });
        }
        let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, "")) => (host, None),
            Some((host, after)) => (host, Some(after.strip_prefix(':').ok_or_else(wrong)?)),
            None => text
                .split_once(':')
                .map_or((text, None), |(host, port)| (host, Some(port))),
        };
        let port = port.map(|port| port.parse::<u16>().map_err(|_| wrong()));
        Ok(Self {
            hosts: Hosts::read(host).ok_or_else(wrong)?,
            port: port.transpose()?,
        })
    }

    fn has_port(&self, port: u16) -> bool {
        self.port.is_none_or(|own| own == port)
    }

    /// Whether it is about this address.
    fn holds(&self, address: IpAddr) -> bool {
        match &self.hosts {
            Hosts::All => true,
            // An address of one family is neither below nor above one of the other.
            Hosts::Addresses(from, to) => {
                from.is_ipv4() == address.is_ipv4() && (from..=to).contains(&&address)
            }
            Hosts::Named(_) => false,
        }
    }

    /// Whether it is about this name.
    fn names(&self, host: &str) -> bool {
        match &self.hosts {
            Hosts::All => true,
            Hosts::Addresses(..) => false,
            Hosts::Named(pattern) => fits(pattern, &host.to_ascii_lowercase()),
        }
    }
}

impl Hosts {
    fn one(address: IpAddr) -> Self {
        let address = address.to_canonical();
        Self::Addresses(address, address)
    }

    fn read(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::All);
        }
        if let Ok(address) = text.parse() {
            return Some(Self::one(address));
        }
        if let Some((from, to)) = text.split_once('-')
            && let (Ok(from), Ok(to)) = (from.parse::<IpAddr>(), to.parse::<IpAddr>())
        {
            let ordered = from.is_ipv4() == to.is_ipv4() && from <= to;
            return ordered.then_some(Self::Addresses(from, to));
        }
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-._*".contains(c);
        let is_name = !text.is_empty() && text.chars().all(allowed);
        // What looks like an address and is none would never fit a name.
        let is_address = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        (is_name && !is_address).then(|| Self::Named(text.to_ascii_lowercase()))
    }
}

/// Whether a name fits a pattern.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(rest) = name.strip_prefix(before) else {
        return false;
    };
    let mut places = rest.char_indices().map(|(place, c)| place + c.len_utf8());
    places.any(|place| fits(after, &rest[place..]))
}

/// Whether an address is this machine's own or one of its link.
fn is_near(ip: IpAddr) -> bool {
    ip.is_loopback()
        || ip.is_unspecified()
        || match ip {
            IpAddr::V4(ip) => ip.is_link_local() || ip.is_broadcast(),
            IpAddr::V6(ip) => ip.is_unicast_link_local(),
        }
}

/// Takes a URL apart to which a request is to be sent. What a template brought must not end the line of the request.
pub fn target_url(text: &str) -> Result<Url, String> {
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("a URL has no spaces and nothing beyond ASCII: encode them".to_owned());
    }
    Url::parse(text)
}

/// Whether a text can be a method (RFC 9110 §9.1), and one of an exchange that ends: `CONNECT` begins another protocol.
pub fn is_method(text: &str) -> bool {
    is_token(text.as_bytes()) && text != "CONNECT"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(allowed: &[&str], denied: &[&str], host: &str, address: &str) -> bool {
        let targets = Targets::new(allowed, denied).unwrap();
        let address: SocketAddr = address.parse().unwrap();
        let allows = targets.allow(host, address);
        assert!(
            !allows || targets.may_allow(host, address.port()),
            "{allowed:?} {host} {address}"
        );
        allows
    }

    #[test]
    fn what_is_named_is_allowed_and_nothing_else() {
        let check = |allowed: &[&str], host: &str, address: &str, expected: bool| {
            let allows = allows(allowed, &[], host, address);
            assert_eq!(allows, expected, "{allowed:?} {host} {address}");
        };
        check(&[], "127.0.0.1", "127.0.0.1:80", false);
        check(&["127.0.0.1"], "127.0.0.1", "127.0.0.1:80", true);
        check(&["127.0.0.1"], "127.0.0.2", "127.0.0.2:80", false);
        check(&["127.0.0.1:81"], "127.0.0.1", "127.0.0.1:80", false);
        check(&["127.0.0.1:81"], "127.0.0.1", "127.0.0.1:81", true);
        check(&["10.1.1.1-10.2.1.1"], "x", "10.1.200.9:80", true);
        check(&["10.1.1.1-10.2.1.1"], "x", "10.2.1.2:80", false);
        check(&["10.1.1.1-10.2.1.1"], "x", "[::1]:80", false);
        check(&["[::1]:80"], "::1", "[::1]:80", true);
        check(&["::1"], "localhost", "[::1]:80", true);
        check(&["127.0.0.1"], "x", "[::ffff:127.0.0.1]:80", true);
        check(
            &["api.example.com"],
            "API.example.com",
            "192.0.2.1:80",
            true,
        );
        check(&["api.example.com"], "example.com", "192.0.2.1:80", false);
        check(&["*.example.com"], "a.b.example.com", "192.0.2.1:80", true);
        check(&["*.example.com"], ".example.com", "192.0.2.1:80", false);
        check(&["*.example.com"], "x.example.com.y", "192.0.2.1:80", false);
        check(&["a*c"], "abcc", "192.0.2.1:80", true);
        check(&["*"], "anything", "127.0.0.1:80", true);
        check(&["*:443"], "anything", "192.0.2.1:80", false);
        check(&["*.1"], "192.0.2.1", "192.0.2.1:80", false);
    }

    #[test]
    fn a_name_alone_does_not_lead_to_this_machine() {
        for address in [
            "127.0.0.1:80",
            "169.254.169.254:80",
            "0.0.0.0:80",
            "[::1]:80",
            "[fe80::1]:80",
            "[::ffff:127.0.0.1]:80",
        ] {
            let name = "rebound.example.com";
            assert!(!allows(&["*.example.com"], &[], name, address), "{address}");
            assert!(allows(&["*"], &[], name, address), "{address}");
            let literal: SocketAddr = address.parse().unwrap();
            let ip = literal.ip().to_canonical().to_string();
            assert!(allows(&["*.example.com", &ip], &[], name, address));
        }
        assert!(allows(&["localhost"], &[], "localhost", "127.0.0.1:80"));
        assert!(allows(&["db.local"], &[], "db.local", "10.0.0.7:80"));
    }

    #[test]
    fn what_is_denied_stays_denied() {
        let check = |denied: &[&str], host: &str, address: &str, expected: bool| {
            let allows = allows(&["*"], denied, host, address);
            assert_eq!(allows, expected, "{denied:?} {host} {address}");
        };
        check(&["10.1.1.1"], "x", "10.1.1.1:80", false);
        check(&["10.1.1.1"], "x", "10.1.1.2:80", true);
        check(&["10.1.1.1:81"], "x", "10.1.1.1:80", true);
        check(
            &["evil.example.com"],
            "evil.example.com",
            "192.0.2.1:80",
            false,
        );
        check(
            &["127.0.0.0-127.255.255.255"],
            "localhost",
            "127.0.0.1:80",
            false,
        );
    }

    #[test]
    fn what_is_no_host_is_said() {
        for text in [
            "",
            "http://a",
            "a/b",
            "a b",
            "10.0.0.9-10.0.0.1",
            "300.1.1.1",
            "a:b",
            "[::1",
            "[::1]80",
        ] {
            let error = Targets::new(&[text], &[]).unwrap_err();
            assert!(error.contains("is no host"), "{text}: {error}");
        }
    }
}
