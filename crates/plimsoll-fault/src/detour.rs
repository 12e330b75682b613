//! A detour: one client of a proxy is led to another server than the rest, through the same toxics. Who injects a fault proves its effect by it,
//! on the very listener that others use, and without a byte to their server.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, PoisonError};

/// Which client, and where to.
#[derive(Debug, Default)]
pub struct Detour {
    /// The client's port; 0: nobody's.
    port: AtomicU16,
    to: Mutex<Option<SocketAddr>>,
}

impl Detour {
    /// The next client with this port is led to `to`.
    pub fn set(&self, port: u16, to: SocketAddr) {
        *self.to.lock().unwrap_or_else(PoisonError::into_inner) = Some(to);
        self.port.store(port, Ordering::Release);
    }

    /// Where a client with this port is led to, if it is the one; no other is after it.
    pub fn take(&self, port: impl FnOnce() -> u16) -> Option<SocketAddr> {
        let wanted = self.port.load(Ordering::Acquire);
        let is_it = wanted != 0 && wanted == port();
        let taken = is_it && self.port.swap(0, Ordering::AcqRel) == wanted;
        let to = taken.then(|| {
            self.to
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take()
        });
        to.flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_is_led_aside_once() {
        let detour = Detour::default();
        assert_eq!(detour.take(|| 0), None);
        let to = "127.0.0.1:9".parse().unwrap();
        detour.set(50_000, to);
        assert_eq!(detour.take(|| 50_001), None);
        assert_eq!(detour.take(|| 50_000), Some(to));
        assert_eq!(detour.take(|| 50_000), None);
    }
}
