//! How many connections each client has, where that is limited: over all shards, and only of clients that have any.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Connections by who has them. There are no more entries than connections.
///
/// The lock is held for one look-up, once when a connection begins and once when it ends; no request takes it.
#[derive(Debug)]
pub(crate) struct ConnectionLimiter<K: Eq + Hash>(Mutex<HashMap<K, u32>>);

/// One connection's place among those of its client, until it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPermit<K: Eq + Hash> {
    limiter: Arc<ConnectionLimiter<K>>,
    key: K,
}

impl<K: Eq + Hash> Default for ConnectionLimiter<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash + Clone> ConnectionLimiter<K> {
    /// A place for one more connection of `key`, unless it has `most` already.
    pub(crate) fn enter(self: &Arc<Self>, key: K, most: u32) -> Option<ConnectionPermit<K>> {
        let mut counts = self.counts();
        let count = counts.entry(key.clone()).or_default();
        // What has no place has an entry only if others of it have.
        if *count >= most {
            return None;
        }
        *count += 1;
        drop(counts);
        Some(ConnectionPermit {
            limiter: Arc::clone(self),
            key,
        })
    }
}

impl<K: Eq + Hash> ConnectionLimiter<K> {
    fn counts(&self) -> MutexGuard<'_, HashMap<K, u32>> {
        // Nothing below can leave a count half-changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash> Drop for ConnectionPermit<K> {
    fn drop(&mut self) {
        let mut counts = self.limiter.counts();
        match counts.get_mut(&self.key) {
            Some(count) if *count > 1 => *count -= 1,
            _ => _ = counts.remove(&self.key),
        }
    }
}

/// The network that counts as one client: an address of IPv4, and of IPv6 the network of 64 bits that one client has as a whole.
pub(crate) fn client_prefix(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = address.to_bits() >> 64 << 64;
            IpAddr::V6(Ipv6Addr::from_bits(network))
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_given_out_up_to_the_limit_and_taken_back() {
        let limiter = Arc::new(ConnectionLimiter::default());
        let places: Vec<_> = (0..3).map(|_| limiter.enter("a", 2)).collect();
        assert_eq!(places.iter().flatten().count(), 2);
        assert!(limiter.enter("b", 2).is_some());
        drop(places);
        assert!(limiter.enter("a", 1).is_some());
        assert!(limiter.enter("a", 1).is_some());
    }

    #[test]
    fn nothing_is_kept_of_who_has_no_connection() {
        let limiter = Arc::new(ConnectionLimiter::default());
        let kept = limiter.enter(0, 1);
        for number in 0..100_000 {
            assert_eq!(limiter.enter(number, 1).is_some(), number != 0);
        }
        assert_eq!(limiter.counts().len(), 1);
        drop(kept);
        assert!(limiter.counts().is_empty());
    }

    #[test]
    fn a_household_of_ipv6_is_one_client() {
        let check = |address: &str, expected: &str| {
            assert_eq!(
                client_prefix(address.parse().unwrap()).to_string(),
                expected
            );
        };
        check("192.0.2.7", "192.0.2.7");
        check("::ffff:192.0.2.7", "192.0.2.7");
        check("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::");
        check("2001:db8:1:3::1", "2001:db8:1:3::");
    }
}
