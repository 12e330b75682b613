//! Where components listen.

use plimsoll_experiment::Field;
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;

/// The listener that is meant when none is named.
pub const MAIN: &str = "main";

/// A host and a port, and how they are spoken to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// A name or an address; an IPv6 address without its brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Whether over TLS.
    pub secure: bool,
}

impl Address {
    /// An address that is spoken to in plaintext.
    #[must_use]
    pub fn new(host: &str, port: u16) -> Self {
        Self {
            host: host.to_owned(),
            port,
            secure: false,
        }
    }

    /// Value of the `Host` field where this is the scheme's own port: that one is not named (RFC 9110, section 7.2; RFC 3986, section 3.2.3).
    #[must_use]
    pub fn authority(&self, default_port: u16) -> String {
        if self.port != default_port {
            self.to_string()
        } else if self.host.contains(':') {
            format!("[{}]", self.host)
        } else {
            self.host.clone()
        }
    }

    /// Whether it is this one; a name is none.
    #[must_use]
    pub fn is(&self, address: SocketAddr) -> bool {
        self.port == address.port() && self.host.parse() == Ok(address.ip())
    }

    /// Value of a substitution of it.
    #[must_use]
    pub fn field(&self, field: Field) -> String {
        match field {
            Field::Url if self.secure => format!("https://{self}"),
            Field::Url => format!("http://{self}"),
            Field::Host => self.host.clone(),
            Field::Port => self.port.to_string(),
        }
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Self::new(&address.ip().to_string(), address.port())
    }
}

/// `host:port`, an IPv6 address in brackets.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// Every listener of every component that has been started. Kept when a component stops, so that it can have its port again.
#[derive(Debug, Clone, Default)]
pub struct Addresses {
    listeners: BTreeMap<String, BTreeMap<String, Address>>,
    /// Where a component finds a listener of another that is led through a proxy: by caller, component and listener.
    links: BTreeMap<(String, String, String), Address>,
}

impl Addresses {
    /// Where a listener is; `None` before its component was started, or when it has no such listener.
    #[must_use]
    pub fn get(&self, component: &str, listener: &str) -> Option<&Address> {
        self.listeners.get(component)?.get(listener)
    }

    /// The names of a component's listeners.
    #[must_use]
    pub fn listeners(&self, component: &str) -> Vec<&str> {
        let listeners = self.listeners.get(component).into_iter().flatten();
        listeners.map(|(name, _)| name.as_str()).collect()
    }

    /// The ports of a component's listeners.
    #[must_use]
    pub fn ports(&self, component: &str) -> Vec<u16> {
        let listeners = self.listeners.get(component).into_iter().flatten();
        listeners.map(|(_, address)| address.port).collect()
    }

    /// The addresses of a component's listeners, `main` first.
    #[must_use]
    pub fn all(&self, component: &str) -> Vec<Address> {
        let listeners = self.listeners.get(component).into_iter().flatten();
        let mut all: Vec<(&String, &Address)> = listeners.collect();
        all.sort_by_key(|(name, _)| *name != MAIN);
        all.into_iter()
            .map(|(_, address)| address.clone())
            .collect()
    }

    /// Forgets where a component listens, so that it is given ports anew.
    pub fn forget(&mut self, component: &str) {
        self.listeners.remove(component);
    }

    /// Where `caller` finds a listener: where it is, unless the way there leads through a proxy.
    #[must_use]
    pub fn seen_by(&self, caller: &str, component: &str, listener: &str) -> Option<&Address> {
        let link = (caller.to_owned(), component.to_owned(), listener.to_owned());
        let led = self.links.get(&link);
        led.or_else(|| self.get(component, listener))
    }

    /// Notes that a caller's way to a listener leads through a proxy.
    pub fn set_link(&mut self, caller: &str, component: &str, listener: &str, address: Address) {
        let link = (caller.to_owned(), component.to_owned(), listener.to_owned());
        self.links.insert(link, address);
    }

    /// Whether a caller's way to this address is one that leads through a proxy.
    #[must_use]
    pub fn is_led(&self, caller: &str, address: SocketAddr) -> bool {
        let mut links = self.links.iter();
        links.any(|((from, _, _), led)| from == caller && led.is(address))
    }

    /// The component that listens at this address.
    #[must_use]
    pub fn component_at(&self, address: SocketAddr) -> Option<&str> {
        let mut components = self.listeners.iter();
        let found = components.find(|(_, listeners)| listeners.values().any(|own| own.is(address)));
        found.map(|(name, _)| name.as_str())
    }

    /// Notes where a listener is.
    pub fn set(&mut self, component: &str, listener: &str, address: Address) {
        let listeners = self.listeners.entry(component.to_owned()).or_default();
        listeners.insert(listener.to_owned(), address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        let check = |host, field, expected: &str| {
            assert_eq!(Address::new(host, 80).field(field), expected);
        };
        check("127.0.0.1", Field::Url, "http://127.0.0.1:80");
        check("::1", Field::Url, "http://[::1]:80");
        check("::1", Field::Host, "::1");
        check("a.example", Field::Port, "80");
        let secured = Address {
            secure: true,
            ..Address::new("a.example", 8443)
        };
        assert_eq!(secured.field(Field::Url), "https://a.example:8443");
    }

    #[test]
    fn an_authority_does_not_name_the_default_port() {
        let check = |host, port, default, expected: &str| {
            assert_eq!(Address::new(host, port).authority(default), expected);
        };
        check("127.0.0.1", 80, 80, "127.0.0.1");
        check("127.0.0.1", 80, 443, "127.0.0.1:80");
        check("a.example", 443, 443, "a.example");
        check("a.example", 8443, 443, "a.example:8443");
        check("::1", 80, 80, "[::1]");
        check("::1", 81, 80, "[::1]:81");
    }
}
