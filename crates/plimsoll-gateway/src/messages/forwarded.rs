//! Who is believed about where a request came from.
//!
//! Only networks and membership; which fields are written is decided in [`crate::messages::fields`].

use std::net::IpAddr;
use std::str::FromStr;

/// An IP network: an address and how many of its leading bits count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Network {
    address: IpAddr,
    prefix: u32,
}

/// Text that is not a network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a network: write `10.0.0.0/8`, `192.0.2.7` or `fd00::/8`")]
pub(crate) struct NotANetwork(String);

impl FromStr for Network {
    type Err = NotANetwork;

    fn from_str(text: &str) -> Result<Self, NotANetwork> {
        let refused = || NotANetwork(text.to_owned());
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| refused())?;
        let width = width(address);
        let prefix = match prefix {
            None => width,
            Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => digits
                .parse()
                .ok()
                .filter(|prefix| *prefix <= width)
                .ok_or_else(refused)?,
            Some(_) => return Err(refused()),
        };
        let network = Self { address, prefix };
        // Bits behind the prefix are a sign that something else was meant.
        if bits(address) & !network.mask() != 0 {
            return Err(refused());
        }
        Ok(network)
    }
}

impl Network {
    /// Whether `peer` belongs to the network. An IPv4 address is the same in its IPv4-mapped IPv6 form.
    pub(crate) fn contains(&self, peer: IpAddr) -> bool {
        let peer = peer.to_canonical();
        peer.is_ipv4() == self.address.is_ipv4() && bits(peer) & self.mask() == bits(self.address)
    }

    fn mask(&self) -> u128 {
        let ones = u128::MAX.checked_shl(128 - self.prefix).unwrap_or(0);
        match self.address {
            IpAddr::V4(_) => ones >> 96,
            IpAddr::V6(_) => ones,
        }
    }
}

fn width(address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u128::from(v4.to_bits()),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn membership_goes_by_leading_bits() {
        let check = |network: &str, peer: &str, expected: bool| {
            let network: Network = network.parse().unwrap();
            assert_eq!(network.contains(peer.parse().unwrap()), expected, "{peer}");
        };
        check("10.0.0.0/8", "10.255.0.1", true);
        check("10.0.0.0/8", "11.0.0.1", false);
        check("10.0.0.0/8", "::ffff:10.0.0.1", true);
        check("0.0.0.0/0", "203.0.113.9", true);
        check("0.0.0.0/0", "::1", false);
        check("192.0.2.7", "192.0.2.7", true);
        check("192.0.2.7", "192.0.2.8", false);
        check("192.0.2.128/25", "192.0.2.129", true);
        check("192.0.2.128/25", "192.0.2.127", false);
        check("fd00::/8", "fdff::1", true);
        check("fd00::/8", "fe80::1", false);
        check("::/0", "2001:db8::1", true);
        check("::/0", "192.0.2.7", false);
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "10",
            "10.0.0.0/33",
            "10.0.0.1/8",
            "10.0.0.0/",
            "10.0.0.0/+8",
            "fd00::/129",
            "host/8",
        ] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
    }
}
